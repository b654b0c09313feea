"""The chapters' text shows the programs: every line of them, by snippets that exist."""

import re
import unittest

from harness import PROGRAMS, ROOT

MARKER = re.compile(r"^//! \[(.+)\]$")
CHAPTERS = [
    folder
    for folder in sorted((ROOT / "chapters").iterdir())
    if any((folder / f"{program}.cu").exists() for program in PROGRAMS)
]


def snippets_and_rest(source: str) -> tuple[dict[str, list[str]], list[str]]:
    """The lines of each snippet, and the lines outside of all."""
    snippets: dict[str, list[str]] = {}
    rest = []
    name = None
    for line in source.splitlines():
        marker = MARKER.match(line.strip())
        if marker and name is None:
            name = marker[1]
            assert name not in snippets, f"snippet {name} is there twice"
            snippets[name] = []
        elif marker:
            assert marker[1] == name, f"snippet {marker[1]} begins inside {name}"
            name = None
        elif name is not None:
            snippets[name].append(line)
        else:
            rest.append(line)
    assert name is None, f"snippet {name} has no end"
    return snippets, rest


class Snippets(unittest.TestCase):
    def test_chapters_show_every_line(self):
        for chapter in CHAPTERS:
            text = (chapter / "README.md").read_text()
            shown = re.findall(r"^\\snippet (\S+) (.+)$", text, re.M)
            defined = []
            for source in (*chapter.glob("*.cu"), *chapter.glob("*.cuh")):
                with self.subTest(source=source.name):
                    snippets, rest = snippets_and_rest(source.read_text())
                    path = f"{chapter.name}/{source.name}"
                    defined += [(path, name) for name in snippets]
                    self.assertEqual([line for line in rest if line.strip()], [])
                    self.assertTrue(all(snippets.values()), "a snippet is empty")
            with self.subTest(chapter=chapter.name):
                self.assertEqual(sorted(shown), sorted(defined))


if __name__ == "__main__":
    unittest.main()
