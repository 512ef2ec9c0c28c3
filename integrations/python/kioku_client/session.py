"""A conversation that loses nothing: before messages leave its window, and when it ends, what matters of them is stored."""
from __future__ import annotations

import logging
from datetime import datetime, timezone
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TypedDict

from kioku_client._messages import identify, newest_question
from kioku_client._sent import SentMessages
from kioku_client._text import clean
from kioku_client.client import Kioku
from kioku_client.errors import KiokuError
from kioku_client.records import Author, ChatMessage, Compacted, FlushOutcome, Prompt, RecallReport, StoredNote, Tool, ToolCall, read
from kioku_client.tools import APPEND, MemoryTool, run_tool

log = logging.getLogger("kioku_client")

# How many answers with calls a model may give in a flush.
_MAX_ROUNDS = 50
# Outcomes of an end, the best first.
_OUTCOMES = ["done", "skipped", "kept", "failed"]
# Seconds that the model of the service may take.
_MODEL_TIMEOUT = 600
# Calls that count with the window of the model.
_OF_WINDOW = {"POST /v1/flush:check", "POST /v1/flush:begin", "POST /v1/prune", "POST /v1/compact", "POST /v1/compact:begin"}


class TooLong(Exception):
    """The model refused a question as too long. The function that asks the model raises it; a shorter question follows."""


@dataclass(frozen=True)
class Question:
    """A question to the agent's own model."""

    #: System prompt.
    system: str
    #: Messages to show, and no others.
    messages: Sequence[ChatMessage]
    #: Tools to offer, and no others: name, description, JSON Schema of the input. The calls are not run.
    tools: Sequence[Tool]
    #: Maximum number of tokens of the answer; 0 means no other than usual.
    max_tokens: int = 0


@dataclass(frozen=True)
class Answer:
    """What the model answered."""

    text: str
    #: Calls of the tools that were offered.
    calls: Sequence[ToolCall] = ()
    #: The answer ended at the maximum number of tokens.
    cut_off: bool = False
    #: Tokens of the question and of the answer, as the provider counts them; 0 if it does not say.
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def message(self) -> ChatMessage:
        """The answer as a message of the conversation."""
        return ChatMessage(role="assistant", text=clean(self.text), tool_calls=list(self.calls))


#: A function that asks the agent's own model. It raises TooLong if the model refuses the question as too long.
Ask = Callable[[Question], Answer]


@dataclass(frozen=True)
class Turn:
    """What to send to the model in a turn."""

    #: System prompt. It is constant over a session, unless its files change.
    system: str
    #: What changes from turn to turn, with the memories: a text block of the newest message of the user. Do not store it.
    turn_block: str
    #: Index of the newest message of the user; -1 if there is none.
    question: int
    #: Message in place of the ones before keep; None if there is none.
    summary: Optional[ChatMessage]
    #: Index of the first message that stays.
    keep: int
    #: Texts of old tool results to send instead of what they are, by the index of the message.
    shortened: Dict[int, str]
    #: What was recalled, and why.
    recall: RecallReport
    #: All this in messages: the summary, then those that stay, the newest one of the user with turn_block.
    messages: List[ChatMessage] = field(repr=False)


class Settings(TypedDict, total=False):
    """Settings of a session, as Session documents them."""

    window_tokens: int
    channel: str
    group: Optional[bool]
    model: str
    mode: str


class Session:
    """A conversation. Call before(messages) in each turn, and end() after the last one. It is not for several threads at once."""

    def __init__(self, kioku: Kioku, session: str, *, ask: Optional[Ask] = None, window_tokens: int = 0, channel: str = "",
                 group: Optional[bool] = None, model: str = "", mode: str = "") -> None:
        """Makes a session, or continues one.

        session is the name of the conversation; no other one has it. ask asks the agent's own model to store memories and to
        summarize; without it the model of the service does (llm.provider). window_tokens is the context window of the agent's
        model; 0 means that of the service's. channel, group, model and mode are those of Kioku.prompt.
        """
        self.kioku, self.name = kioku, session
        self._ask, self._window = ask, window_tokens
        self._setting: Dict[str, Any] = {"session": session, "channel": channel, "group": group, "model": model, "mode": mode}
        self._messages_sent = SentMessages(self._tell)
        self._messages: List[ChatMessage] = []
        self._compacted: Optional[Compacted] = None
        self._prompt = Prompt()
        self._asked = ""
        self._edits: List[Dict[str, Any]] = []
        self._tokens = self._counted = 0
        self._asked_at: Optional[datetime] = None

    def before(self, messages: Sequence[ChatMessage], *, overflow: bool = False, forced: bool = False) -> Turn:
        """Prepares a request to the model: stores memories and makes old messages a summary where that is due.

        messages are all of the conversation, the new one of the user last, or behind it calls of tools and their results.
        Messages without an id get one that is made of what they say. overflow says that the model refused the last request as
        too long, and forced that the person asked to compact now. What goes wrong is logged, and the conversation goes on with the
        messages that it has: while the service is away, with the system prompt of the turn before and without memories.
        """
        self._messages = self._identified(messages)
        self._make_room(overflow, forced)
        self._assemble()
        sent = self._sent()
        self._prune(sent)
        return self._turn(sent)

    def after(self, answer: Answer) -> None:
        """Tells of the answer of the model: what it says, and how long the request and the answer were."""
        self._messages = self._identified([*self._messages, answer.message])
        self._tokens, self._counted = answer.input_tokens + answer.output_tokens, len(self._messages)

    def run_tools(self, tools: Sequence[MemoryTool], answer: Answer) -> List[ChatMessage]:
        """Runs the calls of an answer that after was told of, and returns the messages with their results."""
        source, author = self.source, self.author
        return [run_tool(tools, call, source=source, author=author) for call in answer.calls]

    @property
    def source(self) -> str:
        """Who writes a note now: "tool" if the model has read the result of a tool since the newest message of the user, else "agent"."""
        for message in reversed(self._messages):
            if message.role == "user":
                break
            if message.role == "tool" and message.tool_name != APPEND:
                return "tool"
        return "agent"

    @property
    def author(self) -> Optional[Author]:
        """Who wrote the newest message of the user; None if that is not said."""
        question = newest_question(self._messages)
        return question.author

    def flush(self, messages: Optional[Sequence[ChatMessage]] = None) -> List[StoredNote]:
        """Stores now what is worth keeping of messages, or of those that before and after got, and returns the places of the notes."""
        if messages is not None:
            self._messages = self._identified(messages)
        notes: List[StoredNote] = []
        for part in self._messages_sent.parts(self._sent()) or [[]]:
            notes += self._flush_part(part) if self._ask is None else self._flush_by_own_model(part, self._ask)
        return notes

    def end(self, messages: Optional[Sequence[ChatMessage]] = None) -> FlushOutcome:
        """Ends the conversation: what is not stored of messages, or of those that before and after got, is stored. Without a model
        it stays on the disk of the service until there is one."""
        if messages is not None:
            self._messages = self._identified(messages)
        if self._ask is not None:
            self._try(self.flush)
        all_parts = self._messages_sent.parts(self._sent()) or [[]]
        done = FlushOutcome(outcome="done")
        for part in all_parts:
            if len(all_parts) > 1:  # the service ends what it has: this part, and no others
                self._call("POST /v1/flush:check", part, heartbeat=True)
            _add_end(done, read(FlushOutcome, self._call("POST /v1/sessions:end", part, timeout=_MODEL_TIMEOUT)))
        return done

    def _flush_part(self, part: Sequence[ChatMessage]) -> Sequence[StoredNote]:
        """Has the model of the service store what is worth keeping of a part of the messages."""
        done = read(FlushOutcome, self._call("POST /v1/flush", part, timeout=_MODEL_TIMEOUT, forced=True))
        if done.outcome != "done":
            raise KiokuError("no memories are stored: %s" % done.reason)
        return done.notes

    def _call(self, route: str, messages: Sequence[ChatMessage], timeout: Optional[float] = None, **fields: Any) -> Dict[str, Any]:
        """Makes a call with messages of the session, those that the service has by their ids."""
        fields["session"] = self.name
        if route in _OF_WINDOW:
            fields["window_tokens"] = self._window
        return self._messages_sent.send(messages, lambda sent: self.kioku.call(route, {**fields, "messages": sent}, timeout))

    def _tell(self, messages: Sequence[ChatMessage]) -> None:
        """Gives the service messages. Nothing comes of it."""
        self.kioku.call("POST /v1/flush:check", {"session": self.name, "messages": messages, "heartbeat": True})

    def _identified(self, messages: Sequence[ChatMessage]) -> List[ChatMessage]:
        """Returns messages with ids, and those of users with the channel of the conversation if they name none."""
        out = identify(messages)
        for i, message in enumerate(out):
            if message.role == "user" and not message.channel and self._setting["channel"]:
                out[i] = replace(message, channel=self._setting["channel"])
        return out

    def _make_room(self, overflow: bool, forced: bool) -> None:
        """Does what the check says."""
        check = self._try(self._call, "POST /v1/flush:check", self._sent(), projected_tokens=self._projected(), overflow=overflow, forced=forced)
        if check is not None and check["flush"]:
            self._try(self.flush)  # what is not stored stays: a compaction drops nothing of it
        if check is not None and check["compact"]:
            self._try(self._compact)

    def _projected(self) -> int:
        """Returns the expected tokens of the next request; 0 if the service is to estimate them."""
        if not self._tokens:
            return 0
        return self._tokens + sum(len(clean(m.text).encode()) // 3 for m in self._messages[self._counted:])

    def _sent(self) -> List[ChatMessage]:
        """Returns the messages with the last summary in place of those that it is made of."""
        keep = self._keep()
        if self._compacted is None or not keep:
            return self._messages
        return [self._compacted.message, *self._messages[keep:]]

    def _keep(self) -> int:
        """Returns the index of the first message that stays."""
        if self._compacted is None:
            return 0
        ids = [m.id for m in self._messages]
        return ids.index(self._compacted.first_kept_id) if self._compacted.first_kept_id in ids else 0

    def _assemble(self) -> None:
        """Has the prompt made for the newest question, unless it was made before: a turn with tools asks the model several times."""
        question = newest_question(self._messages)
        if question.id and question.id == self._asked:
            return
        made = self._try(self._prompt_for, question.text)
        self._asked = question.id if made is not None else ""
        self._prompt = made or Prompt(prompt=self._prompt.prompt)

    def _prompt_for(self, text: str) -> Prompt:
        return self.kioku.prompt(text, author=self.author, **self._setting)

    def _prune(self, sent: List[ChatMessage]) -> None:
        """Has it planned which old tool results are shortened."""
        done = self._try(self._call, "POST /v1/prune", sent, edits=self._edits, last_touch_time=self._asked_at)
        if done is not None:
            self._edits = done.get("edits") or []
        self._asked_at = datetime.now(timezone.utc)  # the model is asked now

    def _turn(self, sent: List[ChatMessage]) -> Turn:
        keep, edits = self._keep(), {e["message_id"]: e["text"] for e in self._edits}
        return Turn(
            system=self._prompt.prompt, turn_block=self._prompt.turn_block,
            question=max((i for i, m in enumerate(self._messages) if m.role == "user"), default=-1),
            summary=sent[0] if keep else None, keep=keep,
            shortened={i: edits[m.id] for i, m in enumerate(self._messages) if i >= keep and m.id in edits},
            recall=self._prompt.recall, messages=[self._written(m, self._prompt.turn_block, edits) for m in sent],
        )

    def _written(self, message: ChatMessage, turn_block: str, edits: Mapping[str, str]) -> ChatMessage:
        """Returns a message as it is sent."""
        block = turn_block if message.id == self._asked else ""
        return replace(message, text="\n\n".join(part for part in (edits.get(message.id, message.text), block) if part))

    def _flush_by_own_model(self, part: Sequence[ChatMessage], ask: Ask) -> List[StoredNote]:
        """Shows the model range by range what of a part is not stored, oldest first, and stores the notes that it makes."""
        notes: List[StoredNote] = []
        too_long = False
        while True:
            begun = self._call("POST /v1/flush:begin", part, too_long=too_long)
            if begun["outcome"] == "nothing":
                return notes
            try:
                found = self._ask_for_notes(begun, ask)
            except TooLong:
                if too_long and len(begun["messages"]) <= 1:
                    raise
                too_long = True
                continue
            done = self.kioku.call("POST /v1/flush:commit", {"lease": begun["lease"], **found})
            notes += [read(StoredNote, n) for n in done.get("notes", ())]
            too_long = False

    def _ask_for_notes(self, begun: Mapping[str, Any], ask: Ask) -> Dict[str, Any]:
        """Asks the model until it makes no more notes: many models make one call an answer."""
        system = "\n\n".join(part for part in (self._prompt.prompt, begun["system_prompt"]) if part)
        messages = [read(ChatMessage, m) for m in begun["messages"]]
        messages.append(ChatMessage(role="user", text=begun["user_prompt"]))
        notes: List[Dict[str, str]] = []
        for _ in range(_MAX_ROUNDS):
            answer = ask(Question(system, messages, [read(Tool, begun["tool"])]))
            if not answer.calls:
                return {"notes": notes, "reply": answer.text, "unfinished": answer.cut_off}
            notes += [{name: str(call.input.get(name, "")) for name in ("text", "category")} for call in answer.calls]
            messages.append(answer.message)
            messages += [ChatMessage(role="tool", text="saved", tool_call_id=c.id, tool_name=c.name) for c in answer.calls]
        return {"notes": notes, "unfinished": True}

    def _compact(self) -> None:
        """Makes old messages a summary, by the own model if there is one."""
        if self._ask is None:
            done = read(Compacted, self._call("POST /v1/compact", self._sent(), timeout=_MODEL_TIMEOUT))
        else:
            done = self._compact_by_own_model(self._ask)
        if done.outcome == "compacted":
            self._compacted, self._tokens = done, 0
        else:
            log.warning("session %s: not compacted: %s", self.name, done.reason)

    def _compact_by_own_model(self, ask: Ask) -> Compacted:
        begun = done = self._call("POST /v1/compact:begin", self._sent())
        while "step" in done:
            step = done["step"]
            said: Dict[str, Any] = {"lease": begun["lease"], "step_number": step["number"]}
            try:
                answer = ask(Question(step["system_prompt"], [read(ChatMessage, m) for m in step["messages"]], (), step["max_tokens"]))
                said.update(answer=answer.text, cut_off=answer.cut_off)
            except TooLong:
                said["too_long"] = True
            done = self.kioku.call("POST /v1/compact:commit", said)
        return read(Compacted, done.get("compacted", done))

    def _try(self, step: Callable[..., Any], *args: Any, **fields: Any) -> Any:
        """Does a step without which the conversation goes on, and returns None if it failed, in the service or in the agent's model."""
        try:
            return step(*args, **fields)
        except Exception as e:
            log.warning("session %s: %s", self.name, e or type(e).__name__)
            return None


def _add_end(done: FlushOutcome, part: FlushOutcome) -> None:
    """Adds the end of a part to those of older ones. The outcome is "done" if all are done, and else the worst of them."""
    if _OUTCOMES.index(part.outcome) > _OUTCOMES.index(done.outcome):
        done.outcome, done.reason = part.outcome, part.reason
    done.covered_count += part.covered_count
    done.uncovered_count = part.uncovered_count
    done.notes.extend(part.notes)
    done.warnings.extend(w for w in part.warnings if w not in done.warnings)
