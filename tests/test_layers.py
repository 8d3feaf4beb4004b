"""The shape of the code: imports run downward only, and heavy packages have one door each."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "prefetch_advisor"

#: what may import what: a layer imports those below it, and its own modules
LAYERS = (
    ("errors",),
    ("units",),
    ("model",),
    ("config", "statistics", "findings"),
    ("engine",),
    ("estimate",),
    ("sizing",),
    ("diagnosis",),
    ("advise",),
    ("lint",),
    ("reports",),
    ("cli",),
)
#: sources know of nothing that is computed from what they see
SOURCES_IMPORT = {"errors", "units", "model", "sources"}
#: parts of a layer that are modules of their own beside its main one
PART_OF = {
    "commands": "cli",
    "bootstrap": "engine",
    "ending": "errors",
    "feeding": "engine",
    "inference": "engine",
    "limits": "estimate",
    "bounds": "sizing",
    "client_cost": "estimate",
    "dispatch": "engine",
    "spread": "statistics",
    "draws": "statistics",
    "simulate": "advise",
    "waiting": "sizing",
    "unequal": "diagnosis",
    "sizing_async": "sizing",
    "window": "estimate",
    "case": "diagnosis",
    "consumer_count": "sizing",
    "hints": "diagnosis",
    "hoarding": "diagnosis",
    "known_processing": "diagnosis",
    "replay": "engine",
    "claims": "sizing",
    "pictures": "advise",
    "probe": "advise",
    "probe_connection": "advise",
    "probe_failures": "advise",
    "probe_queue": "advise",
    "probe_run": "advise",
    "probe_session": "advise",
    "bench": "advise",
    "bench_run": "advise",
    "probe_stop": "advise",
    "processes": "units",
    "ranges": "units",
    "recorder": "units",
    "progress": "cli",
    "recommend": "diagnosis",
    "saturation": "diagnosis",
    "silence": "diagnosis",
    "streams": "diagnosis",
    "sizing_words": "sizing",
    "unjudged": "diagnosis",
}
#: packages that only one module imports
DOORS = {
    "pika": {"prefetch_advisor.probe_connection"},
    "requests": {"prefetch_advisor.sources.http"},
    "rich": {"prefetch_advisor.reports.table"},
    "scipy": {"prefetch_advisor.statistics"},
    "yaml": {"prefetch_advisor.lint.kinds.yaml_text"},
}
#: importing these costs more than answering ``--help``
HEAVY = ("numpy", "scipy", "rich", "requests", "pika", "yaml")


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(name: str, file: Path) -> set[str]:
    """The dotted names that a module imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import on line {node.lineno}"
            assert node.module is not None
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer(name: str) -> str:
    """The layer of a module of this package: the first part of its name below the package."""
    part = name.split(".")[1]
    return PART_OF.get(part, part)


def rank(part: str) -> int:
    for number, names in enumerate(LAYERS):
        if part in names:
            return number
    raise AssertionError(f"{part}: decide which layer it belongs to, and add it to the table")


MODULES = modules()
OWN = {
    name: {target for target in imports(name, file) if target.startswith("prefetch_advisor.")}
    for name, file in MODULES.items()
}


@pytest.mark.parametrize("name", [name for name in MODULES if name.count(".")])
def test_imports_run_downward(name):
    own = layer(name)
    for target in OWN[name]:
        other = layer(target)
        if other == "__version__":
            continue
        if own == "__main__":
            assert other == "cli"
        elif own == "sources":
            assert other in SOURCES_IMPORT, f"{name} imports {target}"
        elif other == "sources":
            assert rank(own) >= rank("advise"), f"{name} imports {target}"
        else:
            assert other == own or rank(other) < rank(own), f"{name} imports {target}"


def test_no_module_imports_itself_by_a_detour():
    graph = {
        name: ({resolved(target) for target in OWN[name]} & MODULES.keys()) - {name}
        for name in MODULES
    }
    while leaves := {name for name, targets in graph.items() if not targets}:
        graph = {name: targets - leaves for name, targets in graph.items() if name not in leaves}
    assert not graph, f"these import each other in a ring: {sorted(graph)}"


def resolved(target: str) -> str:
    """The module that an imported name is, or comes from."""
    return target if target in MODULES else target.rpartition(".")[0]


def test_the_package_itself_imports_nothing():
    assert not imports("prefetch_advisor", MODULES["prefetch_advisor"])


@pytest.mark.parametrize("package", DOORS)
def test_a_heavy_package_has_one_door(package):
    found = {
        name
        for name, file in MODULES.items()
        if any(target.split(".")[0] == package for target in imports(name, file))
    }
    assert found <= DOORS[package]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["advise", "--help"], ["lint", "--help"], ["--version"]]
)
def test_help_pays_for_nothing_it_does_not_use(arguments):
    program = (
        "import sys\n"
        "from prefetch_advisor.cli import main\n"
        f"code = main({arguments!r})\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded else code)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "prefetch-advisor" in done.stdout
