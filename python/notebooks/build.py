"""Makes the notebooks from the scripts beside them, and runs them.

    python build.py                   runs every notebook that can run here and writes the .ipynb files with their outputs
    python build.py --check 1 2       runs these and writes nothing: an exception fails

A script is a notebook as text: `# %% [markdown]` begins a cell of prose (comment lines), `# %%` a cell of code.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent


def notebook(script: Path) -> nbformat.NotebookNode:
    """The cells of a script."""
    cells = []
    for part in script.read_text().split("# %%")[1:]:
        head, _, body = part.partition("\n")
        if "[markdown]" in head:
            lines = [line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()]
            cells.append(nbformat.v4.new_markdown_cell("\n".join(lines)))
        else:
            cells.append(nbformat.v4.new_code_cell(body.strip()))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", help="which notebooks, by the number their name begins with; default: all")
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    scripts = sorted(HERE.glob("[0-9]_*.py"))
    for script in [s for s in scripts if not args.numbers or s.name[0] in args.numbers]:
        made = notebook(script)
        NotebookClient(made, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}).execute()
        # Who ran it when, on which Python, says nothing about it.
        made.metadata.pop("language_info", None)
        for cell in made.cells:
            cell.metadata.clear()
        if not args.check:
            nbformat.write(made, script.with_suffix(".ipynb"))
        print(f"{script.stem}: {sum(cell.cell_type == 'code' for cell in made.cells)} cells ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())
