"""Tests of the README."""
import os
import pathlib
import re
import subprocess
import sys

from tests.daemon import DaemonTest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


class TestReadme(DaemonTest):
    """The first example of the README runs as it stands, with the service found by the state folder alone."""

    def test_the_first_example_finds_its_note(self) -> None:
        code = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)[0]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE), "KIOKU_STATE": str(self.daemon.home / "state")}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        self.assertIn("Mia drinks green tea.", done.stdout)
