"""A daemon of Kioku for tests: the program in KIOKU, else bin/kioku of the repository, in a home of its own."""
from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from kioku_client import Kioku

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("KIOKU", REPOSITORY / "bin" / "kioku"))


class Daemon:
    """A "kioku serve" over a folder, which can be killed and started again."""

    def __init__(self, *settings: str, listen: str = "none") -> None:
        # The path of a unix socket has to be short.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="kioku-"))
        self.workspace = self.home / "memory of 美亜 & co"
        self.workspace.mkdir()
        self.target = "unix:%s" % (self.home / "state" / "kioku.sock")
        self.settings, self.listen = settings, listen
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TZ": "UTC"}
        self.start()

    def start(self) -> None:
        """Starts the service and waits until it is ready."""
        command = [str(PROGRAM), "serve", "--workspace", str(self.workspace), "--state", str(self.home / "state"), "--listen", self.listen]
        for setting in self.settings:
            command += ["--set", setting]
        self.log = open(self.home / "log", "ab", buffering=0)
        self.process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.write(line)
            if b" ready: " in line:
                return
        raise RuntimeError("kioku serve ended: " + (self.home / "log").read_text())

    def kill(self) -> None:
        """Ends the service as a power cut does."""
        self.process.send_signal(signal.SIGKILL)
        self._ended()

    def stop(self) -> None:
        """Ends the service as a person does."""
        self.process.send_signal(signal.SIGTERM)
        self._ended()

    def _ended(self) -> None:
        assert self.process.stderr is not None
        self.log.write(self.process.stderr.read())
        self.process.wait(30)
        self.process.stderr.close()
        self.log.close()

    def remove(self) -> None:
        """Ends the service and removes its folders."""
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.home)

    def notes(self) -> str:
        """Returns the text of all notes."""
        return "\n".join(f.read_text() for f in sorted(self.workspace.rglob("*.md")))


@unittest.skipUnless(PROGRAM.exists(), "no program kioku: run make build, or name it with KIOKU")
class DaemonTest(unittest.TestCase):
    """Tests with one daemon and a client of it."""

    settings: "tuple[str, ...]" = ()

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = Daemon(*cls.settings)
        cls.addClassCleanup(cls.daemon.remove)
        cls.kioku = Kioku(cls.daemon.target)
