"""What setup would install and how it says what it cannot: apt-get is a stand-in that writes down
how it was called and installs only when its lists are up to date."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import ROOT

sys.path.insert(0, str(ROOT))

from course_cli import packages  # noqa: E402
from course_cli.console import CourseError  # noqa: E402

APT = """\
#!/bin/sh
echo "apt-get $*" >> "$HERE/calls"
case "$*" in
*update*) touch "$HERE/lists" ;;
*)
    if [ -e "$HERE/offline" ]; then
        echo "E: Failed to fetch http://x/y.deb  Could not connect to x:80"
        exit 100
    fi
    if [ ! -e "$HERE/lists" ]; then
        echo "E: Unable to locate package tool"
        exit 100
    fi
    if [ -e "$HERE/broken" ]; then
        echo "E: Sub-process /usr/bin/dpkg returned an error code (1)"
        exit 100
    fi
    echo "Setting up tool (1.0) ..."
    ;;
esac
"""


def package(name: str, needed: bool) -> packages.Package:
    return packages.Package(name, f"the {name}", lambda: False, "build", needed, "something")


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.tool("apt-get", APT)
        for name in ("sh", "touch", "env", "true"):
            (self.here / name).symlink_to(f"/bin/{name}")
        self.enter(mock.patch.dict(os.environ, {"PATH": folder.name, "HERE": folder.name}))
        self.become(0)

    def enter(self, patch) -> None:
        patch.start()
        self.addCleanup(patch.stop)

    def tool(self, name: str, text: str) -> None:
        path = self.here / name
        path.write_text(text)
        path.chmod(0o755)

    def become(self, user: int) -> None:
        self.enter(mock.patch("os.geteuid", return_value=user))

    def install(self, *names: str, needed: bool = True) -> tuple[bool | CourseError, str]:
        """The answer of install(), or its error; and what was printed."""
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            try:
                answer = packages.install([package(name, needed) for name in names])
            except CourseError as error:
                answer = error
        return answer, shown.getvalue()

    def calls(self) -> list[str]:
        calls = self.here / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    def test_nothing_missing_calls_nothing(self):
        self.assertEqual(self.install(), (False, ""))
        self.assertEqual(self.calls(), [])

    def test_root_installs_exactly_what_is_missing(self):
        (self.here / "lists").touch()
        answer, shown = self.install("tool", "other")
        self.assertIs(answer, True)
        self.assertIn("installing tool, other", shown)
        self.assertIn("Setting up tool", shown)
        self.assertEqual(self.calls(), ["apt-get -q install -y --no-install-recommends tool other"])

    def test_empty_lists_are_updated_first(self):
        answer, _ = self.install("tool")
        self.assertIs(answer, True)
        self.assertEqual(
            [call.split()[2] for call in self.calls()], ["install", "update", "install"]
        )

    def test_offline_is_said(self):
        (self.here / "offline").touch()
        answer, _ = self.install("tool")
        self.assertEqual(answer.status, 3)
        self.assertIn("offline", str(answer))

    def test_the_reason_apt_get_gives_is_shown(self):
        (self.here / "broken").touch()
        answer, _ = self.install("tool")
        self.assertEqual(answer.status, 3)
        self.assertIn("Sub-process", str(answer))

    def test_neither_root_nor_sudo_names_the_exact_command(self):
        self.become(1000)
        answer, _ = self.install("tool", "other")
        self.assertEqual(answer.status, 3)
        self.assertEqual(
            str(answer).splitlines()[-1].strip(),
            "apt-get update && apt-get install -y --no-install-recommends tool other",
        )
        self.assertEqual(self.calls(), [])

    def test_sudo_is_used(self):
        self.become(1000)
        (self.here / "lists").touch()
        self.tool(
            "sudo",
            '#!/bin/sh\n[ "$1" = -n ] && shift\necho "sudo $1" >> "$HERE/calls"\nexec "$@"\n',
        )
        with mock.patch("sys.stdin", io.StringIO()):
            answer, _ = self.install("tool")
        self.assertIs(answer, True)
        self.assertIn("sudo env", self.calls())

    def test_sudo_that_refuses(self):
        self.become(1000)
        self.tool("sudo", "#!/bin/sh\nexit 1\n")
        with mock.patch("sys.stdin", io.StringIO()):
            answer, _ = self.install("tool")
        self.assertEqual(answer.status, 3)
        self.assertIn("sudo", str(answer))

    def test_another_distribution_is_told_what_is_needed_in_words(self):
        (self.here / "apt-get").unlink()
        answer, _ = self.install("tool")
        self.assertEqual(answer.status, 3)
        self.assertIn("the tool", str(answer))

    def test_something_dispensable_costs_but_does_not_stop(self):
        self.become(1000)
        answer, shown = self.install("tool", needed=False)
        self.assertIs(answer, False)
        self.assertIn("without tool: something", shown)


class Missing(unittest.TestCase):
    def test_tools_are_looked_for_not_packages(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, {"PATH": empty}):
            names = [package.name for package in packages.missing(("build",))]
        self.assertEqual([n for n in names if n in ("g++", "meson", "ninja-build")],
                         ["g++", "meson", "ninja-build"])  # fmt: skip

    def test_an_old_meson_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"PATH": folder}):
            tool = Path(folder, "meson")
            for version, present in (("0.64.1", False), ("1.0.0", True), ("2.1", True)):
                tool.write_text(f"#!/bin/sh\necho {version}\n")
                tool.chmod(0o755)
                self.assertIs(packages.meson(), present, version)


if __name__ == "__main__":
    unittest.main()
