"""A client of Kioku, the memory of agents.

    from kioku_client import Kioku

    kioku = Kioku()                       # the service that "kioku serve" runs on this machine
    kioku.append("Mia drinks green tea.")
    for hit in kioku.search("What does Mia drink?").results:
        print(hit.citation, hit.snippet)
"""
from kioku_client.aio import AsyncKioku
from kioku_client.client import Kioku
from kioku_client.errors import Busy, Conflict, Denied, InvalidRequest, KiokuError, NotFound, NotPossible, Unreachable

__all__ = ["AsyncKioku", "Kioku", "Busy", "Conflict", "Denied", "InvalidRequest", "KiokuError", "NotFound", "NotPossible", "Unreachable"]
