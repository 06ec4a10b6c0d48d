/** CSS of the setup page, in addition to that of every page. */
export const setupStyle = `
:root { --soft: var(--sunken); --edge: light-dark(#7d8592, #7b8490); --tint: var(--accent-tint); }
body:has(.phone) { --column: 42rem; } body:has(.computer) { --column: 62rem; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h2 { display: flex; gap: 0.6rem; align-items: center; }
h2 .count { flex: none; width: 1.75rem; height: 1.75rem; border-radius: 50%; background: var(--accent); color: var(--on-accent); display: grid; place-items: center; font-size: 0.9rem; } h2 .count.is-done { background: none; } .count svg { width: 1.75rem; height: 1.75rem; }
.number { white-space: nowrap; } .of-step { color: var(--quiet); font-size: 0.85rem; margin: 0 0 0.25rem; }
.step { background: var(--surface); border: 1px solid var(--line); border-radius: 14px; padding: 0 1.1rem; margin: 0.75rem 0; } .step > summary { display: flex; align-items: center; min-height: 56px; list-style: none; } .step > summary::-webkit-details-marker { display: none; } .step > summary::after { content: '›'; margin-left: auto; font-size: 1.4rem; line-height: 1; color: var(--quiet); transform: rotate(90deg); } .step[open] > summary::after { transform: rotate(-90deg); } .step h2 { margin: 0; }
.anyway:not([open]) ~ #end .button { display: none; } .next { margin: 1rem 0 0; } .button.second { background: transparent; color: var(--accent-ink); border: 1px solid var(--accent); }
[id^=content-], [id^=line-], .step { scroll-margin-top: 0.75rem; }
h3 { font-size: 0.98rem; margin: 1.4rem 0 0.35rem; }
.columns { display: grid; gap: 1rem; align-items: start; margin-top: 1rem; }
.columns section { margin: 0; }
@media (min-width: 56rem) { .columns { grid-template-columns: 22rem 1fr; } }
.qr { display: block; width: 100%; max-width: 17rem; margin: 0.75rem auto; border-radius: 12px; border: 1px solid var(--line); }
.marks { list-style: none; margin: 0.75rem 0 0; padding: 0; }
.marks li { margin: 0; padding: 0.6rem 0; border-top: 1px solid var(--line); }
.marks li:first-child { border-top: 0; }
.icon-square { fill: var(--surface); stroke: var(--edge); stroke-width: 2; } .icon-square.is-made { fill: var(--accent); stroke: var(--accent); } .line-sign { padding-top: 0.75rem; } .line-sign svg { width: 1.5rem; height: 1.5rem; display: block; }
.mark { display: grid; grid-template-columns: 1.5rem 1fr; gap: 0 0.6rem; align-items: start; margin: 0.6rem 0 0; }
.marks .mark { margin: 0.35rem 0 0; }
.mark svg { width: 1.5rem; height: 1.5rem; } .mark b { font-weight: 600; } .mark .detail { color: var(--quiet); grid-column: 2; font-size: 0.93rem; overflow-wrap: anywhere; }
.step .mark { background: var(--soft); border-radius: 8px; padding: 0.6rem 0.7rem; min-height: 3.9rem; }
.icon-open { stroke: var(--edge); } .icon-busy { stroke: var(--accent); } .icon-done { fill: var(--good); } .icon-failed { fill: var(--bad); } .icon-sign { fill: none; stroke: var(--surface); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.is-failed .detail { color: var(--bad-ink); }
.bar { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: 4px; margin: 0.5rem 0 0; padding: 0; list-style: none; }
.bar li { height: 6px; margin: 0; border-radius: 3px; background: var(--edge); } .bar .is-done { background: var(--good); } .bar .is-busy { background: var(--accent); } .bar .is-failed { background: var(--bad); }
.all-done { color: var(--good-ink); } .summary { font-weight: 600; margin: 0; } .summary + p { margin: 0; }
.notice { border-left: 4px solid var(--bad); padding: 0.1rem 0 0.1rem 0.8rem; margin: 0.75rem 0; } .notice.mild { border-color: var(--warn); }
.notice p, .notice ul { margin: 0.3rem 0; } .notice ul { padding-left: 1.1rem; }
.copy-row { display: grid; grid-template-columns: 1fr auto; gap: 0.5rem; align-items: stretch; margin: 0.25rem 0 0.75rem; }
.copy-row .value { border-color: var(--edge); margin: 0; min-width: 0; display: flex; align-items: center; } .field-name { margin: 0.75rem 0 0; font-weight: 600; font-size: 0.93rem; }
.copy, .copy:hover { width: auto; min-width: 5.5rem; background: var(--surface); color: var(--accent-ink); border: 1.5px solid var(--accent); } .copy.wide { width: 100%; min-height: 48px; margin: 0.25rem 0 0.5rem; } html:not(.scripted) .copy { display: none; } html:not(.scripted) .copy-row { grid-template-columns: 1fr; }
.message { margin: 0.5rem 0; padding: 0.6rem 0.8rem; background: var(--soft); border-radius: 10px; overflow-wrap: anywhere; user-select: all; -webkit-user-select: all; }
.app { display: grid; grid-template-columns: auto 1fr; gap: 0.8rem; align-items: center; margin: 0.75rem 0; } .app p { margin: 0; } .app-sign { width: 3rem; height: 3rem; } .app-ground { fill: var(--soft); stroke: var(--edge); } .app-back { fill: var(--quiet); } .app-front { fill: var(--accent); fill-opacity: 0.85; }
button.plain, button.plain:hover { background: transparent; color: var(--quiet); border: 1px solid var(--line); font-weight: 400; } #end form { margin-top: 0.75rem; }
.button { display: flex; align-items: center; justify-content: center; font-weight: 600; min-height: 48px; padding: 0.5rem 1.1rem; border-radius: 8px; color: var(--on-accent); background: var(--accent); text-decoration: none; text-align: center; margin: 0.5rem 0; }
form button { min-height: 48px; } button[aria-busy=true] { opacity: 0.6; }
form.inline { display: grid; gap: 0.5rem; } form.inline input { margin: 0; font-size: 1rem; min-height: 48px; }
.taps { padding: 0; list-style: none; counter-reset: tap; } .taps > li { counter-increment: tap; margin: 1rem 0; }
.taps > li > p:first-child::before { content: counter(tap) ". "; font-weight: 600; } .taps > li:only-child > p:first-child::before { content: none; }
.screen { display: block; width: 100%; height: auto; margin: 0.5rem 0 0; overflow: visible; }
@media (min-width: 40rem) { .taps > li:has(> .screen) { display: grid; grid-template-columns: 1fr 19rem; gap: 1rem; align-items: start; } .taps > li > p { margin: 0.5rem 0; } form.inline { grid-template-columns: 1fr auto; } form.inline button { width: auto; } form.inline :is(label, .error) { grid-column: 1 / -1; margin: 0; } }
.screen text { font: 13px system-ui, sans-serif; fill: var(--ink); } .screen .dim { fill: var(--quiet); } .screen .strong { font-weight: 600; } .screen .blue { fill: var(--accent-ink); font-weight: 600; }
.screen .ground { fill: var(--page); stroke: var(--edge); } .screen .card { fill: var(--surface); stroke: var(--edge); } .screen .line { stroke: var(--edge); } .screen .on { fill: var(--good); } .screen .off { fill: light-dark(#c9ced6, #4a505a); } .screen .knob { fill: #fff; }
.screen .ring { fill: none; stroke: var(--accent); stroke-width: 2.5; } .screen .tap { fill: var(--accent); } .screen .tap-number { fill: var(--on-accent); font-weight: 700; } .screen .dots { fill: var(--soft); stroke: var(--edge); } .screen .dot, .screen .stop { fill: var(--accent); } .screen .arrow { fill: none; stroke: var(--accent-ink); stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; } .screen .chevron { fill: none; stroke: var(--quiet); stroke-width: 1.5; } .screen .tick { fill: none; stroke: var(--accent); stroke-width: 2; }
.lines { list-style: none; margin: 0.5rem 0 0; padding: 0; } .lines > li { display: grid; grid-template-columns: 1.6rem 1fr; gap: 0.7rem; border-top: 1px solid var(--line); margin: 0; padding: 0.35rem 0; } .lines > li:first-child { border-top: 0; } .tick { padding-top: 0.7rem; }
.lines details { border: 0; padding: 0; margin: 0; min-width: 0; }
.tick-row { display: grid; grid-template-columns: 1.6rem 1fr; gap: 0.7rem; padding: 0.7rem 0; margin: 0; } .tick-row label { font-weight: 600; }
.question { border-color: var(--line); } .question .question { border-width: 1px 0 0; border-radius: 0; padding: 0; } .question > summary::marker { color: var(--accent-ink); } .question .lines { margin-bottom: 0.75rem; } .letters { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.5rem; } .letters li { display: flex; align-items: center; gap: 0.4rem; margin: 0; } .letters .copy { min-height: 44px; min-width: 0; padding: 0.2rem 0.8rem; }
.left .of-step { white-space: nowrap; } .remedies li { margin: 0.6rem 0; }
.tick input { appearance: none; width: 1.6rem; height: 1.6rem; min-height: 0; padding: 0; margin: 0; display: grid; place-items: center; border: 2px solid var(--edge); border-radius: 6px; background: var(--surface); }
.tick input:checked { background: var(--accent); border-color: var(--accent); } .tick input:checked::after { content: ''; width: 0.4rem; height: 0.8rem; margin-top: -0.15rem; border: solid var(--surface); border-width: 0 2.5px 2.5px 0; transform: rotate(45deg); } .tick input:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
input::placeholder { color: var(--quiet); opacity: 1; }
kbd { font: 600 0.95em var(--mono); background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; padding: 0.05rem 0.4rem; white-space: nowrap; }
.step .results .mark { background: none; padding: 0; min-height: 0; }
details { border: 1px solid var(--edge); border-radius: 8px; padding: 0 0.9rem; margin: 0.75rem 0; } summary { font-weight: 600; padding: 0.7rem 0; cursor: pointer; min-height: 48px; } details > :last-child { margin-bottom: 0.9rem; } .technician { border-color: var(--line); } .technician > summary { font-weight: 400; color: var(--quiet); } .technician details { border: 0; border-top: 1px solid var(--line); border-radius: 0; padding: 0; }
.build, .build ol { padding-left: 0; list-style: none; } .build ol { border-left: 2px solid var(--line); padding-left: 0.6rem; margin: 0.4rem 0; }
.build li { margin: 0.5rem 0; } .build [data-action] { overflow-wrap: anywhere; display: flow-root; min-height: 1.5rem; } .build dl > div { display: flow-root; } .build dl { margin: 0.2rem 0; font-size: 0.93rem; } .build dl > div { margin: 0.15rem 0; } .build dt { display: inline; color: var(--quiet); } .build dt::after { content: ':'; } .build dd { display: inline; margin: 0; overflow-wrap: anywhere; }
.build code { white-space: normal; background: var(--soft); border-radius: 6px; padding: 0.05rem 0.35rem; } .by-hand var { font-style: normal; color: var(--accent-ink); text-decoration: underline dotted; text-underline-offset: 3px; } .build small { color: var(--quiet); font-size: 0.82rem; white-space: nowrap; } .build .copy { float: right; clear: right; min-width: 0; width: 4.75rem; min-height: 44px; padding: 0.2rem 0; font-size: 0.85rem; margin: 0 0 0.3rem 0.5rem; }
.taps .copy { min-height: 44px; padding: 0.2rem 0.9rem; margin-left: 0.4rem; } .taps .copy.wide { margin-left: 0; }
@media (prefers-reduced-motion: no-preference) { .icon-busy { animation: turn 1.4s linear infinite; transform-origin: center; } @keyframes turn { to { transform: rotate(360deg); } } }
`;
