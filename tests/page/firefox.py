"""Firefox, driven with its own protocol (Marionette): Debian has no geckodriver."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..run import virtual_display
from .driver import wait


class Firefox:
    """One window, with the methods of a selenium driver that tests of pages use."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._count = connection, 0
        self._input: BinaryIO = connection.makefile("rb")
        self._read()
        self._call("WebDriver:NewSession")
        self._call("WebDriver:SetTimeouts", script=60_000)

    def get(self, address: str) -> None:
        self._call("WebDriver:Navigate", url=address)

    def execute_script(self, script: str, *arguments: object, kind: str = "ExecuteScript") -> Any:
        return self._call(f"WebDriver:{kind}", script=script, args=arguments, sandbox=None)["value"]

    def execute_async_script(self, script: str, *arguments: object) -> Any:
        return self.execute_script(script, *arguments, kind="ExecuteAsyncScript")

    @property
    def current_url(self) -> str:
        return str(self.execute_script("return location.href"))

    def quit(self) -> None:
        self._call("Marionette:Quit", flags=["eForceQuit"])

    def _call(self, name: str, **parameters: object) -> Any:
        self._count += 1
        message = json.dumps([0, self._count, name, parameters]).encode()
        self._connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, value = self._read()
        assert error is None, error
        return value

    def _read(self) -> Any:
        size = b""
        while (digit := self._input.read(1)) != b":":
            size += digit
        return json.loads(self._input.read(int(size)))


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    assert program, "there is no Firefox: apt-get install firefox-esr"
    (profile / "user.js").write_text('user_pref("marionette.port", 0);\nuser_pref("webgl.force-enabled", true);\n')
    with virtual_display() as display:
        environment = os.environ | {"DISPLAY": display, "HOME": str(profile)}
        command = [program, "--marionette", "--no-remote", "--profile", str(profile)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = profile / "MarionetteActivePort"
            wait(lambda: port.exists() and port.read_text())
            with socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=120) as connection:
                browser = Firefox(connection)
                yield browser
                browser.quit()
        finally:
            process.terminate()
            process.wait()
