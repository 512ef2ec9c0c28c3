"""Tests of the client against a daemon."""
import asyncio
import hashlib
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import kioku_client
from kioku_client import AsyncKioku, Kioku, _transport, records

from tests.daemon import PROGRAM, Daemon, DaemonTest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


class TestClient(DaemonTest):
    """Search, get, append and recall over a unix socket whose path has spaces and Japanese characters."""

    def test_a_note_that_was_appended_is_found_and_read(self) -> None:
        noted = self.kioku.append("美亜は毎朝緑茶を飲む。", category="preference")
        self.assertFalse(noted.deduplicated)
        self.assertTrue(self.kioku.append("美亜は毎朝緑茶を飲む。", category="preference").deduplicated)
        self.kioku.sync()
        found = self.kioku.search("緑茶を飲むのは誰", max_results=3)
        self.assertIn("緑茶", found.results[0].snippet)
        self.assertIn("緑茶", self.kioku.get(found.results[0].path).text)
        self.assertIn("緑茶", self.kioku.recall("美亜は何を飲む?", channel="terminal").block)
        self.assertIn("memory_search", self.kioku.prompt("美亜は何を飲む?", channel="terminal").prompt)
        self.assertEqual(self.kioku.status().workspace, str(self.daemon.workspace))

    def test_a_key_with_another_text_is_a_conflict(self) -> None:
        self.kioku.append("The key is under the stone.", key="k1")
        with self.assertRaises(kioku_client.Conflict) as raised:
            self.kioku.append("The key is in the pot.", key="k1")
        self.assertEqual(raised.exception.reason, "CONFLICT")

    def test_a_fact_is_corrected_and_the_correction_taken_back(self) -> None:
        self.kioku.append("The office is in Kobe.", target="long_term")
        done = self.kioku.update("The office is in Kobe.", "The office is in Osaka.", reason="It has moved.")
        self.assertIn("The office is in Osaka.", self.kioku.get(done.path).text)
        self.kioku.undo(done.revision)
        self.assertIn("The office is in Kobe.", self.kioku.get("MEMORY.md").text)
        with self.assertRaises(kioku_client.KiokuError):
            self.kioku.update("The office is on the moon.", "It is not.")

    def test_a_secret_is_replaced_and_told(self) -> None:
        noted = self.kioku.append("The key is AKIA" + "Q3EGTRD5YHZ7KLMN, use it.")
        self.assertEqual(len(noted.secrets), 1)
        self.assertNotIn("Q3EGTRD5YHZ7KLMN", self.daemon.notes())

    def test_a_wrong_field_is_named(self) -> None:
        with self.assertRaises(kioku_client.InvalidRequest) as raised:
            self.kioku.search(" ")
        self.assertEqual(list(raised.exception.fields), ["query"])

    def test_what_is_not_there_is_not_found(self) -> None:
        with self.assertRaises(kioku_client.NotFound):
            self.kioku.get("memory/no-such-note.md")
        with self.assertRaises(kioku_client.NotFound):
            Kioku(self.daemon.target, agent="nobody").search("tea")

    def test_the_same_calls_can_be_awaited(self) -> None:
        async def both() -> "list[records.StoredNote]":
            kioku = AsyncKioku(self.kioku)
            return await asyncio.gather(kioku.append("One of two notes at once."), kioku.append("The other of two notes at once."))

        self.assertEqual([n.deduplicated for n in asyncio.run(both())], [False, False])

    def test_every_method_can_be_awaited(self) -> None:
        public = {name for name in vars(Kioku) if not name.startswith("_")}
        self.assertEqual(public - set(vars(AsyncKioku)), set())


class TestUnreachable(unittest.TestCase):
    """Errors say what to do."""

    def test_without_a_service_the_error_says_how_to_start_one(self) -> None:
        with self.assertRaisesRegex(kioku_client.Unreachable, "run kioku serve --workspace DIR"):
            Kioku("unix:/nowhere/kioku.sock", timeout=5).search("tea")

    def test_a_call_that_is_cut_off_is_repeated_unless_it_could_change_something_twice(self) -> None:
        with mock.patch.object(_transport.Transport, "_exchange", side_effect=[ConnectionResetError(), {"path": "a.md"}]) as exchange:
            self.assertEqual(Kioku("unix:/k.sock").append("x").path, "a.md")
        with mock.patch.object(_transport.Transport, "_exchange", side_effect=ConnectionResetError()) as exchange, self.assertRaises(kioku_client.Unreachable):
            Kioku("unix:/k.sock").update("a", "b")
        self.assertEqual(exchange.call_count, 1)

    def test_a_target_of_another_form_is_refused(self) -> None:
        for target in ("http://127.0.0.1:7600", "localhost", "/run/kioku.sock", "::1:7600"):
            with self.subTest(target), self.assertRaisesRegex(ValueError, "write unix:/path/of/kioku.sock or host:port"):
                Kioku(target)
        for target in ("localhost:7600", "[::1]:7600", "unix:relative.sock"):
            Kioku(target)

    def test_a_token_never_crosses_a_network_unencrypted(self) -> None:
        with self.assertRaisesRegex(ValueError, "create_default_context"):
            Kioku("kioku.example:7600", token="secret")
        Kioku("127.0.0.1:7600", token="secret")


@unittest.skipUnless(PROGRAM.exists(), "no program kioku: run make build, or name it with KIOKU")
class TestTCP(unittest.TestCase):
    """Over TCP a token opens the memory, and errors say what is missing."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, *settings: str) -> str:
        """Starts a service that knows the token sesame, and returns its target."""
        tokens = self.folder / "tokens.yaml"
        tokens.write_text("tokens:\n- name: a\n  sha256: %s\n  agents: [main]\n  write: true\n" % hashlib.sha256(b"sesame").hexdigest())
        tokens.chmod(0o600)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            target = "127.0.0.1:%d" % free.getsockname()[1]
        self.addCleanup(Daemon("tokenFile=%s" % tokens, *settings, listen=target).remove)
        return target

    def test_a_token_opens_the_memory(self) -> None:
        target = self.serve()
        self.assertFalse(Kioku(target, token="sesame").append("Behind a door.").deduplicated)
        for token in ("", "barley"):
            with self.subTest(token), self.assertRaisesRegex(kioku_client.Denied, "KIOKU_CLIENT_TOKEN"):
                Kioku(target, token=token).search("door")

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_the_environment_names_the_authorities_of_tls(self) -> None:
        cert, key = str(self.folder / "cert.pem"), str(self.folder / "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert,
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        target = self.serve("tls.cert=" + cert, "tls.key=" + key)
        with mock.patch.dict(os.environ, KIOKU_CLIENT_CA=cert):
            self.assertEqual(Kioku(target, token="sesame").status().agent, "main")
        for credentials in (None, ssl.create_default_context()):
            with self.assertRaisesRegex(kioku_client.Unreachable, "set KIOKU_CLIENT_CA"):
                Kioku(target, token="sesame", credentials=credentials, timeout=5).status()
        with mock.patch.dict(os.environ, KIOKU_CLIENT_CA=cert + ".none"), self.assertRaisesRegex(ValueError, "KIOKU_CLIENT_CA: .*pem.none"):
            Kioku(target)


class TestTarget(unittest.TestCase):
    """The service is found where the program kioku puts it."""

    def test_the_environment_names_the_service(self) -> None:
        for environment, want in [
            ({"KIOKU_CLIENT_TARGET": "box:7600", "KIOKU_SOCKET": "/s"}, "box:7600"),
            ({"KIOKU_SOCKET": "/run/k.sock", "KIOKU_STATE": "/s"}, "unix:/run/k.sock"),
            ({"KIOKU_STATE": "/s", "XDG_STATE_HOME": "/x"}, "unix:/s/kioku.sock"),
            ({"XDG_STATE_HOME": "/x"}, "unix:/x/kioku/kioku.sock"),
            ({"HOME": "/h"}, "unix:/h/.local/state/kioku/kioku.sock"),
        ]:
            with self.subTest(environment), mock.patch.dict(os.environ, environment, clear=True):
                self.assertEqual(_transport.default_target(), want)

    def test_a_token_may_be_in_a_file_or_another_variable(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".token") as file:
            file.write("t1\n")
            file.flush()
            for value, want in [("t0", "t0"), ("file:" + file.name, "t1"), ("env:OTHER", "t2")]:
                with self.subTest(value), mock.patch.dict(os.environ, {"KIOKU_CLIENT_TOKEN": value, "OTHER": "t2"}):
                    self.assertEqual(_transport.default_token(), want)


class TestTypes(unittest.TestCase):
    """A type checker knows results and options."""

    def test_results_have_types_and_wrong_options_are_mistakes(self) -> None:
        lines = {
            'reveal_type(kioku.search("x").results[0].snippet)': 'Revealed type is "str"',
            'reveal_type(asyncio.run(AsyncKioku().search("x")).results[0].citation)': 'Revealed type is "str"',
            'kioku.append("x", categry="x")': 'Unexpected keyword argument "categry"',
            'AsyncSession(kioku, "x", windw=1)': 'Unexpected keyword argument "windw"',
            'kioku.append("x", category="x")': "",
        }
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program.py")
            program.write_text("\n".join(["import asyncio; from kioku_client import *; kioku = Kioku()", *lines]))
            checked = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-site-packages", "--cache-dir", sys.prefix + "/mypy", str(program)],
                                     capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(PACKAGE)})
        if "No module named mypy" in checked.stderr:
            self.skipTest("no mypy")
        for n, want in enumerate(lines.values(), 2):
            said = [line for line in checked.stdout.splitlines() if "/program.py:%d:" % n in line and "defined in" not in line]
            self.assertEqual(len(said), 1 if want else 0, checked.stdout[-1000:])
            self.assertIn(want, "".join(said))


if __name__ == "__main__":
    unittest.main()
