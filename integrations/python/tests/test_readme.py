"""Tests of the programs in the README, each in a process of its own."""
import os
import re
import subprocess
import sys
import unittest

from tests.daemon import REPOSITORY, DaemonTest
from tests.scripted import ScriptedServer

PACKAGE = REPOSITORY / "integrations/python"
PROGRAMS = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)


class TestReadme(DaemonTest):
    """A program finds the service by the state folder alone."""

    def test_the_first_example_of_the_readme_finds_its_note(self) -> None:
        self.assertIn("Mia drinks green tea.", self.run_program(PROGRAMS[0]))

    def test_the_loop_of_ones_own_remembers(self) -> None:
        try:
            import openai  # noqa: F401
        except ImportError as e:
            self.skipTest("%s: pip install openai" % e)
        model = ScriptedServer()
        self.addCleanup(model.close)
        loop = PROGRAMS[1].partition("print(turn(")[0]
        said = self.talk(model, loop, "remember The cellar key is under the third stone.", "My dentist appointment is on 2026-03-09.")
        self.assertEqual(said, "Done.\nok\n")
        self.assertIn("from=agent", self.daemon.notes())
        self.assertIn("dentist", self.daemon.notes())
        self.kioku.sync()
        model.requests.clear()
        self.talk(model, loop.replace("conversation-1", "conversation-2"), "Where is the cellar key?", "When is my dentist appointment?")
        self.assertIn("third stone", model.requests[0])
        self.assertIn("2026-03-09", model.requests[1])

    def talk(self, model: ScriptedServer, loop: str, *lines: str) -> str:
        """Returns what a loop prints that is told lines."""
        told = "".join("print(turn(%r))\n" % line for line in lines)
        return self.run_program("%s%ssession.end()\n" % (loop, told), OPENAI_API_KEY="test", OPENAI_BASE_URL=model.url + "/v1")

    def run_program(self, code: str, **environment: str) -> str:
        """Returns what a program prints."""
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE), "KIOKU_STATE": str(self.daemon.home / "state"), **environment}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout


if __name__ == "__main__":
    unittest.main()
