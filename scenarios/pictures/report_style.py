"""The look of a report: light and dark, on paper and on a narrow screen; contrast is at least 4.5 to 1."""

_COLOURS = """
--ground: #ffffff; --card: #f6f7f9; --ink: #1a1a1a; --soft: #51565c; --rule: #c9ced4;
--good: #00603f; --bad: #a3290a; --warn: #6b4e00; --link: #004f86;
"""
_DARK = """
--ground: #14171a; --card: #1e2327; --ink: #ececec; --soft: #b3bac1; --rule: #454d55;
--good: #5fd0a5; --bad: #ff9b7d; --warn: #f0d264; --link: #8cc8f5;
"""
_RULES = """
{0} {{ {colours} color: var(--ink); background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ {0} {{ {dark} }} }}
{0} h1, {0} h2, {0} h3 {{ line-height: 1.25; margin: 1.6em 0 0.5em; color: inherit; }}
{0} h1 {{ font-size: 1.7rem; margin-top: 0; overflow-wrap: anywhere; }}
{0} h2 {{ font-size: 1.3rem; border-bottom: 1px solid var(--rule); padding-bottom: 0.2em; }}
{0} h3 {{ font-size: 1.05rem; }}
{0} p, {0} ul, {0} dl {{ margin: 0.5em 0; overflow-wrap: anywhere; }}
{0} .soft, {0} caption, {0} figcaption {{ color: var(--soft); }}
{0} .verdict {{ font-weight: 700; }}
{0} .good {{ color: var(--good); }}
{0} .bad {{ color: var(--bad); }}
{0} .warn {{ color: var(--warn); }}
{0} dl {{ display: grid; grid-template-columns: minmax(5.5rem, max-content) 1fr; gap: 0.15em 1em; }}
{0} dt {{ grid-column: 1; font-weight: 600; overflow-wrap: anywhere; }}
{0} dd {{ grid-column: 2; margin: 0; min-width: 0; overflow-wrap: anywhere; }}
@media (max-width: 34rem) {{
  {0} dl {{ grid-template-columns: 1fr; }}
  {0} dd {{ grid-column: 1; padding-left: 0.8em; }}
}}
{0} .wide {{ overflow-x: auto; margin: 0.8em 0; }}
{0} table {{ border-collapse: collapse; color: inherit; min-width: min(100%, 24rem); }}
{0} caption {{ text-align: left; padding: 0.2em 0; }}
{0} th, {0} td {{ border-bottom: 1px solid var(--rule); padding: 0.25em 0.8em 0.25em 0; text-align: left; vertical-align: top; }}
{0} th {{ font-weight: 600; }}
{0} td.figure {{ font-variant-numeric: tabular-nums; white-space: nowrap; }}
{0} pre {{ background: var(--card); border: 1px solid var(--rule); padding: 0.7em; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; font: 0.85rem/1.45 ui-monospace, monospace; color: inherit; }}
{0} code {{ font-family: ui-monospace, monospace; color: inherit; background: none; overflow-wrap: anywhere; }}
{0} figure {{ margin: 1em 0; padding: 0.6em; background: #ffffff; color: #1a1a1a; border: 1px solid var(--rule); max-width: 46rem; }}
{0} figure svg, {0} figure img {{ display: block; width: 100%; height: auto; }}
{0} figure figcaption {{ color: #3c4147; font-size: 0.9rem; margin-top: 0.4em; }}
{0} figure svg.bars {{ max-width: 30rem; }}
{0} summary {{ cursor: pointer; font-weight: 600; }}
{0} a {{ color: var(--link); }}
{0} :focus-visible {{ outline: 3px solid var(--link); outline-offset: 2px; }}
"""
_PAGE = """
:root { color-scheme: light dark; }
body { margin: 0; }
.hush { max-width: 60rem; margin: 0 auto; padding: 1.2rem; box-sizing: border-box; min-height: 100vh; }
html { background: #ffffff; }
@media (prefers-color-scheme: dark) { html { background: #14171a; } }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2em 1em; }
@media print {
  html, .hush { background: #ffffff; }
  .hush { max-width: none; padding: 0; %s }
  nav { display: none; }
  .hush pre { max-height: none; }
  .hush .wide { overflow: visible; }
  .hush table { font-size: 0.75rem; }
  .hush th, .hush td.figure { white-space: normal; overflow-wrap: anywhere; }
  figure, tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""


def rules(scope: str) -> str:
    """Return rules of style that hold inside of one class of elements only."""
    return _RULES.format(f".{scope}", colours=_COLOURS, dark=_DARK)


def page_rules() -> str:
    """Return the rules of a page of its own; its content has the class `hush`."""
    return rules("hush") + _PAGE % _COLOURS
