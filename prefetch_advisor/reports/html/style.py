"""How the page looks: two colour schemes, one column on a phone."""

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f6f7f9; --ink: #1b1f24; --faint: #5a6472; --line: #d5dae1;
  --error: #b3261e; --warning: #8a5300; --well: #1b6e3c; --info: #35506e;
  --curve: #1f5fbf; --other: #a2560b; --advised: #1b6e3c; --now: #b3261e; --rule: #5a6472;
  --busy: #1f5fbf; --wait: #d99a3a; --idle: #e3e7ec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --panel: #1d2127; --ink: #e7eaee; --faint: #a3adba; --line: #3a414b;
    --error: #ff8a80; --warning: #f0b45a; --well: #74d19a; --info: #9cc0ea;
    --curve: #7db0ff; --other: #f0a860; --advised: #74d19a; --now: #ff8a80; --rule: #a3adba;
    --busy: #7db0ff; --wait: #b97f2a; --idle: #2c323a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 68rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
h3 { font-size: .95rem; margin: 0 0 .25rem; font-weight: 600; }
p { margin: .25rem 0; }
a { color: var(--info); }
.faint { color: var(--faint); }
.error { color: var(--error); } .warning { color: var(--warning); }
.well { color: var(--well); } .info { color: var(--info); }
.strong { font-weight: 600; }
section { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem;
  padding: 1rem; margin: 1rem 0; }
.scrolls { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; color: var(--faint); white-space: nowrap; }
.right { text-align: right; white-space: nowrap; }
td.name { min-width: 8rem; max-width: 24rem; }
td.verdict { white-space: nowrap; font-weight: 600; }
td.why { min-width: 16rem; }
dl { margin: .5rem 0 0; display: grid; grid-template-columns: 7rem 1fr; gap: .1rem .75rem; }
dt { color: var(--faint); padding-top: .25rem; } dd { margin: 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 30rem));
  gap: 1rem; margin: .75rem 0; }
figure { margin: 0; min-width: 0; }
figcaption { color: var(--faint); font-size: .85rem; }
svg { width: 100%; max-width: 34rem; height: auto; display: block; }
svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
svg .axis { stroke: var(--line); fill: none; }
svg .curve { stroke: var(--curve); fill: none; stroke-width: 2; }
svg .other { stroke: var(--other); fill: none; stroke-width: 2; stroke-dasharray: 5 3; }
svg .area { fill: var(--curve); opacity: .18; stroke: none; }
svg .mark { stroke-width: 1.5; fill: none; }
svg .advised { stroke: var(--advised); } svg text.advised { stroke: none; fill: var(--advised); }
svg .now { stroke: var(--now); stroke-dasharray: 2 2; }
svg text.now { stroke: none; fill: var(--now); }
svg .rule { stroke: var(--rule); stroke-dasharray: 6 4; }
svg text.rule { stroke: none; fill: var(--rule); }
svg .busy { fill: var(--busy); } svg .wait { fill: var(--wait); } svg .idle { fill: var(--idle); }
details { margin-top: .5rem; } summary { cursor: pointer; color: var(--info); }
pre { overflow-x: auto; background: var(--ground); border: 1px solid var(--line); padding: .5rem;
  border-radius: .25rem; }
@media (max-width: 34rem) {
  body { padding: .5rem; }
  section { padding: .75rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin: 0 0 .35rem; }
  .queues thead { display: none; }
  .queues tr { display: flex; flex-wrap: wrap; gap: 0 .75rem; padding: .4rem 0;
    border-bottom: 1px solid var(--line); }
  .queues td { border: 0; padding: 0; text-align: left; max-width: none; min-width: 0; }
  .queues td.why { flex-basis: 100%; }
  .queues td[data-label]::before { content: attr(data-label) " "; color: var(--faint); }
}
@media print { section { break-inside: avoid; } }
"""
