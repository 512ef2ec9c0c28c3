"""Tests of the example, a loop of one's own, with the package openai and a scripted model on loopback."""
import os
import subprocess
import sys
import unittest

from tests.daemon import REPOSITORY, DaemonTest
from tests.scripted import ScriptedServer

try:
    import openai  # noqa: F401
except ImportError as e:
    raise unittest.SkipTest("example: not tested, %s: pip install openai" % e)


class TestExample(DaemonTest):
    """A loop of one's own stores by tools and at its end, and recalls in the next process."""

    def test_the_example_remembers(self) -> None:
        model = ScriptedServer()
        self.addCleanup(model.close)
        said = self.talk(model, "first", "remember The cellar key is under the third stone.\nMy dentist appointment is on 2026-03-09.\n")
        self.assertEqual(said, "Done.\nok\n")
        self.assertIn("from=agent", self.daemon.notes())
        self.assertIn("dentist", self.daemon.notes())
        self.kioku.sync()
        model.requests.clear()
        self.talk(model, "second", "Where is the cellar key?\nWhen is my dentist appointment?\n")
        self.assertIn("third stone", model.requests[0])
        self.assertIn("2026-03-09", model.requests[1])

    def talk(self, model: ScriptedServer, session: str, lines: str) -> str:
        """Returns what the example prints."""
        package = REPOSITORY / "integrations/python"
        environment = {**os.environ, "PYTHONPATH": str(package), "HOME": str(self.daemon.home), "KIOKU_STATE": str(self.daemon.home / "state"),
                       "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": model.url + "/v1"}
        command = [sys.executable, str(package / "example.py"), session]
        done = subprocess.run(command, env=environment, input=lines, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout


if __name__ == "__main__":
    unittest.main()
