"""The conversation of integrations/testdata, and a scripted model that stores the facts that it is shown in a flush."""
from __future__ import annotations

import json
import re
from typing import Any, Dict, List

from kioku_client import Answer, Question, ToolCall

from tests.daemon import REPOSITORY

CONVERSATION: Dict[str, Any] = json.loads((REPOSITORY / "integrations/testdata/conversation.json").read_text())
FACTS: List[Dict[str, Any]] = CONVERSATION["facts"]


def said(turn: int) -> str:
    """Returns what the user says in a turn, from 1."""
    fact = next((f["say"] for f in FACTS if f["turn"] == turn), None)
    fillers = CONVERSATION["fillers"]
    return fact or "%d. %s" % (turn, fillers[turn % len(fillers)])


class ScriptedModel:
    """Stands for a model: in a flush it stores each fact that it is shown in a message of the user, and nothing else."""

    def __init__(self) -> None:
        self.summaries = 0

    def ask(self, question: Question) -> Answer:
        """Answers a question of the session."""
        if not question.tools:
            self.summaries += 1
            asked = question.messages[-1].text
            ids = re.search(r"letter for letter:\n((?:- .*\n)+)", asked)
            return Answer("## Decisions\n(none)\n## Identifiers\n" + (ids.group(1) if ids else "(none)"))
        if question.messages[-1].role == "tool":
            return Answer("NO_REPLY")
        shown = "\n".join(m.text for m in question.messages if m.role == "user")
        facts = [f["say"] for f in FACTS if f["say"] in shown]
        return Answer("NO_REPLY", [ToolCall(id="c%d" % i, name=question.tools[0].name, input=json.dumps({"text": f})) for i, f in enumerate(facts)])
