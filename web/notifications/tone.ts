let context: AudioContext | undefined;

/** The two notes of the sound, in Hz. */
const notes = [660, 880] as const;
const noteSeconds = 0.12;

/** Plays a quiet sound. Browsers play it once the person has pressed something on the page. */
export function playTone(): void {
  context ??= new AudioContext();
  void context.resume();
  const volume = new GainNode(context, { gain: 0.06 });
  volume.connect(context.destination);
  const start = context.currentTime + 0.02;
  for (const [index, frequency] of notes.entries()) {
    const note = new OscillatorNode(context, { frequency });
    note.connect(volume);
    note.start(start + index * noteSeconds);
    note.stop(start + (index + 1) * noteSeconds);
  }
  volume.gain.setTargetAtTime(0, start + noteSeconds, noteSeconds / 2);
}
