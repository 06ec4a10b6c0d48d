/** CSS of the setup page, beside that of every page. */
export const setupStyle = `
:root { --soft: var(--sunken); --edge: light-dark(#7d8592, #7b8490); --tint: var(--accent-tint); }
body:has(.phone) { --column: 42rem; } body:has(.computer) { --column: 62rem; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h2 { display: flex; gap: 0.6rem; align-items: center; }
h2 .count { flex: none; width: 1.75rem; height: 1.75rem; border-radius: 50%; background: var(--tint); color: var(--accent-ink); display: grid; place-items: center; font-size: 0.9rem; }
h3 { font-size: 0.98rem; margin: 1.4rem 0 0.35rem; }
.columns { display: grid; gap: 1rem; align-items: start; margin-top: 1rem; }
.columns section { margin: 0; }
@media (min-width: 56rem) { .columns { grid-template-columns: 22rem 1fr; } }
.qr { display: block; width: 100%; max-width: 17rem; margin: 0.75rem auto; border-radius: 12px; border: 1px solid var(--line); }
.marks { list-style: none; margin: 0.75rem 0 0; padding: 0; }
.marks li { margin: 0; padding: 0.6rem 0; border-top: 1px solid var(--line); min-height: 3.9rem; }
.marks li:first-child { border-top: 0; }
.mark { display: grid; grid-template-columns: 1.5rem 1fr; gap: 0 0.6rem; align-items: start; margin: 0.6rem 0 0; }
.marks .mark { margin: 0; }
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
.copy { width: auto; min-width: 5.5rem; background: var(--tint); color: var(--accent-ink); } .copy:hover { background: var(--tint); } html:not(.scripted) .copy { display: none; } html:not(.scripted) .copy-row { grid-template-columns: 1fr; }
.button { display: flex; align-items: center; justify-content: center; font-weight: 600; min-height: 48px; padding: 0.5rem 1.1rem; border-radius: 8px; color: var(--on-accent); background: var(--accent); text-decoration: none; text-align: center; margin: 0.5rem 0; }
form button { min-height: 48px; } button[aria-busy=true] { opacity: 0.6; }
form.inline { display: grid; gap: 0.5rem; } form.inline input { margin: 0; font-size: 1rem; min-height: 48px; }
.taps { padding: 0; list-style: none; counter-reset: tap; } .taps > li { counter-increment: tap; margin: 1rem 0; }
.taps > li > p:first-child::before { content: counter(tap) ". "; font-weight: 600; } .taps > li:only-child > p:first-child::before { content: none; }
.screen { display: block; width: 100%; height: auto; margin: 0.5rem 0 0; overflow: visible; }
@media (min-width: 40rem) { .taps > li { display: grid; grid-template-columns: 1fr 19rem; gap: 1rem; align-items: start; } .taps > li > p { margin: 0.5rem 0; } form.inline { grid-template-columns: 1fr auto; } form.inline button { width: auto; } form.inline :is(label, .error) { grid-column: 1 / -1; margin: 0; } }
.screen text { font: 13px system-ui, sans-serif; fill: var(--ink); } .screen .dim { fill: var(--quiet); } .screen .strong { font-weight: 600; } .screen .blue { fill: var(--accent-ink); font-weight: 600; }
.screen .ground { fill: var(--page); stroke: var(--edge); } .screen .card { fill: var(--surface); stroke: var(--edge); } .screen .line { stroke: var(--edge); } .screen .on { fill: var(--good); } .screen .off { fill: light-dark(#c9ced6, #4a505a); } .screen .knob { fill: #fff; }
.screen .ring { fill: none; stroke: var(--accent); stroke-width: 2.5; } .screen .tap { fill: var(--accent); fill-opacity: 0.25; stroke: var(--accent); stroke-width: 2; } .screen .chevron { fill: none; stroke: var(--quiet); stroke-width: 1.5; } .screen .tick { fill: none; stroke: var(--accent); stroke-width: 2; }
.tests { list-style: none; margin: 0.5rem 0 0; padding: 0; } .tests > li { border-top: 1px solid var(--line); margin: 0; padding: 0.75rem 0; }
.tests .make { display: grid; grid-template-columns: auto 1fr auto; gap: 0.7rem; align-items: center; } .tests input[type=checkbox] { appearance: none; width: 1.6rem; height: 1.6rem; min-height: 0; padding: 0; margin: 0; display: grid; place-items: center; border: 2px solid var(--edge); border-radius: 6px; background: var(--surface); }
.tests input[type=checkbox]:checked { background: var(--accent); border-color: var(--accent); } .tests input[type=checkbox]:checked::after { content: ''; width: 0.4rem; height: 0.8rem; margin-top: -0.15rem; border: solid var(--surface); border-width: 0 2.5px 2.5px 0; transform: rotate(45deg); } .tests input:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
input::placeholder { color: var(--quiet); opacity: 1; }
.tests label { font-weight: 400; display: block; padding: 0.4rem 0; } kbd { font: 600 0.95em ui-monospace, monospace; background: var(--soft); border: 1px solid var(--edge); border-radius: 6px; padding: 0.05rem 0.4rem; white-space: nowrap; }
.tests .mark { min-height: 2.6rem; margin: 0; } .tests > li:first-child { border-top: 0; }
details { border: 1px solid var(--edge); border-radius: 8px; padding: 0 0.9rem; margin: 0.75rem 0; } summary { font-weight: 600; padding: 0.7rem 0; cursor: pointer; min-height: 48px; } details > :last-child { margin-bottom: 0.9rem; }
.build, .build ol { padding-left: 0; list-style: none; } .build ol { border-left: 2px solid var(--line); padding-left: 0.7rem; margin: 0.4rem 0; }
.build li { margin: 0.5rem 0; } .build [data-action] { overflow-wrap: anywhere; } .build dl { margin: 0.2rem 0; font-size: 0.93rem; } .build dl > div { margin: 0.15rem 0; } .build dt { display: inline; color: var(--quiet); } .build dt::after { content: ':'; } .build dd { display: inline; margin: 0; overflow-wrap: anywhere; }
.build code { white-space: normal; background: var(--soft); border-radius: 6px; padding: 0.05rem 0.35rem; } .by-hand var { font-style: normal; background: var(--tint); color: var(--accent-ink); border-radius: 6px; padding: 0.05rem 0.35rem; } .build small { color: var(--quiet); font-size: 0.82rem; white-space: nowrap; } .build .copy { min-width: 0; min-height: 44px; padding: 0.2rem 0.7rem; font-size: 0.85rem; margin-left: 0.4rem; }
@media (prefers-reduced-motion: no-preference) { .icon-busy { animation: turn 1.4s linear infinite; transform-origin: center; } @keyframes turn { to { transform: rotate(360deg); } } }
`;
