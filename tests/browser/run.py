"""The dashboard's tests in a browser: run.py PRDO [PICTURES] [CASE …]. Exit code 1 if any case fails."""

import os
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from cases import CASES
from chrome import Chrome
from world import World

LOCAL = ("http://127.0.0.1:", "data:", "about:", "file:///")


def run(case, chrome, prdo, pictures):
    with tempfile.TemporaryDirectory(prefix="prdo-browser-") as folder:
        world, page = World(prdo, folder), chrome.page()
        try:
            case(world, page, lambda name: os.path.join(pictures, f"{name}.png"))
            assert not page.errors, page.errors
            away = [url for url in page.requests if not url.startswith(LOCAL)]
            assert not away, f"requests leave this machine: {away}"
        except Exception:
            page.picture(os.path.join(pictures, f"failed-{case.__name__}.png"))
            for child in world.children:
                print(f"-- {child.label}: {world.told(child.label)[-600:]}")
            print(f"-- errors of the page: {page.errors}")
            raise
        finally:
            page.close()
            world.close()


def main():
    prdo = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="prdo-pictures-") as spare:
        pictures = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else spare
        os.makedirs(pictures, exist_ok=True)
        wanted = sys.argv[3:]
        failed = []
        chrome = Chrome(os.environ.get("CHROMIUM", "chromium"))
        try:
            for case in CASES:
                if wanted and case.__name__ not in wanted:
                    continue
                start = time.monotonic()
                try:
                    run(case, chrome, prdo, pictures)
                    print(f"ok    {case.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
                except Exception:
                    failed.append(case.__name__)
                    traceback.print_exc()
                    print(f"FAIL  {case.__name__}", flush=True)
        finally:
            chrome.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
