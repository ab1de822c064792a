"""Client of a chat model behind an OpenAI-compatible API; answers texts, labels and JSON."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from segviz.llm import checks
from segviz.llm.cache import NOTE, Completion, ModelCache, content_key
from segviz.llm.client import Body, Client, Fault, RequestError, clean, text_of
from segviz.llm.endpoint import Endpoint
from segviz.llm.prompts import JSON_ONLY, Texts, expected_tokens, fitted
from segviz.llm.protocols import Chat, LabelError, Prompt, Reply
from segviz.llm.usage import Metered, Tries
from segviz.text.captions import printable
from segviz.waiting import in_parallel

# Parameters a server may refuse, and the words its refusal is recognised by.
_OPTIONAL = {
    "response_format": (
        *("response_format", "json_schema", "json_object", "structured output", "grammar"),
    ),
    "temperature": ("temperature",),
    "frequency_penalty": ("penalty",),
    "seed": ("seed",),
    "stream_options": ("stream_options", "include_usage"),
    "stream": ("stream",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "max_completion_tokens": ("max_tokens", "max_completion_tokens"),
}
_FORMS = ("json_schema", "json_object", "text")
_ANSWER = 200
_FENCE = re.compile(r"\A```[\w-]*\s*(.*?)\s*```\Z", re.DOTALL)
_QUOTES = " \n\"'`*“”‘’«»"
_LABEL_TOKENS = 20
_QUOTED = 0.7  # most of a context that a prompt may take, as estimated
_PENALTY = 0.3  # for repetition in texts; ends the loops of small models
_WARMER = 0.3  # least temperature per repeated try: at 0 another seed changes nothing
_ROOMY = "short"  # accepted[...] is False for a model that reasons first: short limits cut it off
_STUBBORN = "the model kept answering outside its labels when it was asked before"


class OpenAIChat(Client, Chat):
    """Chat model of a server with the OpenAI API; repeated prompts are answered from the cache.

    A prompt with labels requests structured output in the first form that the server accepts:
    OpenAI's ``json_schema``; ``json_object`` with a schema, as in llama.cpp; none. If the server
    refuses a form, or fails with status 500 where the next form works, no client with this address,
    model and cache uses the form again. The same holds for any other parameter it refuses. The
    label is checked in any case.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ModelCache | None = None,
        *,
        total: Metered | None = None,
        prompts: Texts | None = None,
    ) -> None:
        """Prepares a client; sends nothing yet.

        Args:
            endpoint: the server and the model.
            cache: stores replies; None keeps them in memory.
            total: counters to which the client's counts are added.
            prompts: replacements for system messages, by name (``segviz.llm.prompts.overrides``).
        """
        if not endpoint.model:
            raise ValueError("model is empty; name a model the server has, such as gpt-5.4-mini")
        super().__init__(endpoint, cache, total)
        self.prompts = dict(prompts or {})
        self._reported = set[str]()
        self._trying = threading.Lock()
        self._accepted = self.cache.accepted.setdefault(f"{endpoint.address} {endpoint.model}", {})

    @property
    def name(self) -> str:
        """Name that identifies this chat model and its settings; it holds no secret."""
        return self.endpoint.identity

    @property
    def at_once(self) -> int:
        """Number of requests that the server gets at the same time."""
        return self.endpoint.concurrency

    @property
    def prompt_tokens(self) -> int:
        """Maximum of tokens of a prompt; in a short context it leaves room for the answer."""
        most, context = self.endpoint.prompt_tokens, self.loaded(self.endpoint.model).context
        return min(most, round(_QUOTED * context)) if context else most

    def about(self, role: str) -> dict[str, Any]:
        """Returns facts about this model by name: server, parameters, fingerprints."""
        endpoint = self.endpoint
        names = ("model", "temperature", "seed", "max_tokens")
        return {
            **{name: getattr(endpoint, name) for name in names},
            "prompt_tokens": self.prompt_tokens,
            "server": endpoint.address,
            "fingerprint": self.loaded(endpoint.model).fingerprint,
            "reported": sorted(self._reported),
        }

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Answers prompts, see ``Chat.outcomes``; at most ``concurrency`` at once.

        If one fails, the others under way still finish and are cached before its error is raised.
        """
        # Prompts are sent in the user's own wording, cut to the budget.
        sent = []
        for prompt in prompts:
            fit, shortened = fitted(prompt, self.prompt_tokens, self.prompts)
            self.count(shortened=shortened)
            sent.append(fit)
        distinct = list(dict.fromkeys(sent))
        # Cached replies need no thread.
        answers: dict[Prompt, Reply | LabelError] = {}
        for prompt in distinct:
            completion = self.cache.completion(self._key(prompt))
            if completion is not None:
                answers[prompt] = self._counted(prompt, completion, cached=True)
        fresh = [prompt for prompt in distinct if prompt not in answers]
        outcomes = in_parallel(self._fresh, fresh, self.endpoint.concurrency)
        failed = next((each for each in outcomes if isinstance(each, RequestError)), None)
        counts = self.counts()
        if failed and counts["answered"] == counts["refused"]:
            raise failed  # a setting is wrong rather than a prompt
        answers |= {
            prompt: self._without(prompt, each) if isinstance(each, RequestError) else each
            for prompt, each in zip(fresh, outcomes, strict=True)
        }
        # A reply says how many parts of its prompt were left out.
        replies = []
        for prompt, fit in zip(prompts, sent, strict=True):
            reply, left_out = answers[fit], len(prompt.parts) - len(fit.parts)
            if left_out and isinstance(reply, Reply):
                reply = replace(reply, left_out=left_out)
            replies.append(reply)
        return replies

    def _counted(self, prompt: Prompt, completion: Completion, cached: bool) -> Reply | LabelError:
        """Counts a model's answer; returns it as a reply, or the error if it is a wrong label."""
        tokens, model = completion.tokens_in + completion.tokens_out, self.endpoint.model
        self.count(answered=1, answered_tokens=tokens, from_cache=cached)
        self.count(answered_output=completion.tokens_out)
        self._reported |= {completion.fingerprint} - {""}
        try:
            text = self._usable(prompt, completion)
        except Fault as fault:
            if fault.kind == "label":
                return LabelError(_STUBBORN, fault.answer)
            self.count(refused=1)
            return Reply("", tokens, cached, refused=str(fault), raw=completion.text, model=model)
        return Reply(text, tokens, cached, raw=completion.text, model=model)

    def _fresh(self, prompt: Prompt) -> Reply | LabelError | RequestError:
        """Requests an answer and stores it; returns the error if only this prompt fails."""
        key = self._key(prompt)
        failing: set[str] = set()  # forms of output at which the server failed
        failed: RequestError | None = None
        wrote: list[int] = []  # tokens of each reply that came, the unusable ones included
        try:
            answer = self._ask(
                "chat",
                lambda fault: self._body(prompt, failing, fault),
                lambda reply: self._read(prompt, reply, wrote),
                lambda body, status, answer: self._adapt(body, status, answer.lower(), failing),
            )
        except RequestError as error:
            failed = error
        # The stored counts of ``tries`` grow by this prompt.
        if wrote:
            new = Tries(1, len(wrote), sum(wrote), expected_tokens(prompt))
            with self._trying:
                sums = [*map(sum, zip(self.tries(prompt.name), new, strict=True))]
                note = Completion(json.dumps(sums), 0, 0, NOTE)
                self.cache.keep_completion(self._tries_key(prompt.name), note, replace=True)
        if failed is not None:  # outside the except clause, so that the errors are not chained
            if failed.kind not in ("label", "text") or failed.reply is None:
                if failed.lasting:
                    return failed
                raise failed  # other prompts would fail, too
            # Stored too: a resumed or repeated build must decide the same way in its place, without
            # another request.
            outcome = self._counted(
                prompt, self.cache.keep_completion(key, failed.reply), cached=False
            )
            return outcome if isinstance(outcome, Reply) else LabelError(str(failed), failed.answer)
        if prompt.labels:
            used = self._form(failing)
            for form in _FORMS[: _FORMS.index(used)]:
                self._accepted.setdefault(form, False)
            self._accepted[used] = True
        # Another process may have stored another answer meanwhile; use the one a rebuild will find.
        return self._counted(prompt, self.cache.keep_completion(key, answer), cached=False)

    def tries(self, name: str) -> Tries:
        """Returns the requests that replies to prompts of a name took so far, by the cache."""
        note = self.cache.completion(self._tries_key(name))
        return Tries(*json.loads(note.text)) if note else Tries()

    def _tries_key(self, name: str) -> bytes:
        return content_key("tries", self.endpoint.identity, name)

    def _without(self, prompt: Prompt, failed: RequestError) -> Reply | LabelError:
        """Returns an error or an empty reply for a prompt whose request failed.

        Neither is stored, so the next call asks the model again.
        """
        if prompt.labels:
            return LabelError(str(failed), "")
        self.count(refused=1, answered=1)
        return Reply("", refused=failed.reason)

    def _key(self, prompt: Prompt) -> bytes:
        request = [prompt.system, prompt.user, list(prompt.labels), prompt.words, prompt.json]
        fingerprint = self.loaded(self.endpoint.model).fingerprint
        return content_key("chat", f"{self.endpoint.identity} {fingerprint}", request)

    @property
    def form(self) -> str:
        """Form of structured output requested now; "text" for none."""
        return self._form(set())

    def _form(self, failing: set[str]) -> str:
        """Returns the form of structured output to ask for, the last of ``_FORMS`` if need be.

        It is the first that the server has not refused and that is not ``failing`` now.
        """
        usable = (f for f in _FORMS[:-1] if self._accepted.get(f, f not in failing))
        return next(usable, _FORMS[-1])

    def _body(self, prompt: Prompt, failing: set[str], fault: Fault | None) -> Body:
        """Returns the body of a request; after a ``fault`` it differs, to get another answer."""
        # Asked again in the same words a model would answer the same, so the rule is repeated.
        endpoint, again = self.endpoint, fault.again if fault is not None else 0
        remind = fault is not None and fault.kind == "label"
        refused = {name for name, accepted in [*self._accepted.items()] if not accepted}
        user, form = prompt.user, self._form(failing)
        if prompt.labels and (remind or form != "json_schema"):
            user = f"{user}\n\n{_instruction(prompt.labels, form)}"
        elif fault is not None and fault.kind == "text":
            rule = JSON_ONLY if prompt.json else _TEXT_ONLY.format(prompt.words)
            user = f"{user}\n\nFor your last reply: {fault}. {rule}"
        # OpenAI's newer models know the limit by its new name alone, other servers by the old one.
        limit = "max_tokens"
        if (endpoint.host == "api.openai.com") != (limit in refused):
            limit = "max_completion_tokens"
        body: Body = {
            "model": endpoint.model,
            "messages": [
                {"role": "system", "content": clean(prompt.system)},
                {"role": "user", "content": clean(user)},
            ],
            "temperature": max(endpoint.temperature, _WARMER * again),
            limit: self._limit(prompt, fault),
        }
        if "stream" not in refused:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if prompt.words:
            body["frequency_penalty"] = _PENALTY
        if not prompt.system:
            del body["messages"][0]
        if endpoint.seed is not None:
            body["seed"] = endpoint.seed + again
        if prompt.labels and form != "text":
            body["response_format"] = _response_format(form, [clean(x) for x in prompt.labels])
        return {name: value for name, value in body.items() if name not in refused}

    def _limit(self, prompt: Prompt, fault: Fault | None) -> int:
        """Returns the token limit of an answer; for a model that reasons, the endpoint's."""
        needed = checks.tokens_for(prompt.words) if prompt.words else _LABEL_TOKENS
        short = (prompt.labels or prompt.words) and self._accepted.get(_ROOMY, True)
        if not short or (fault is not None and fault.kind == "length"):
            return self.endpoint.max_tokens
        return min(needed, self.endpoint.max_tokens)

    def _adapt(self, body: Body, status: int, answer: str, failing: set[str]) -> bool:
        """Changes later requests after the server refused one, and returns True if it did.

        Leaves out the parameter that ``answer`` names, or tries the next form of structured output.
        """
        form = body.get("response_format", {}).get("type", "")
        for name, words in _OPTIONAL.items():
            named = name in body and any(word in answer for word in words)
            if named and (status < 500 or name == "response_format"):
                self._accepted[form if name == "response_format" else name] = False
                return True
        if status < 500 or not form or self._accepted.get(form):
            return False
        failing.add(form)
        return True

    def _read(self, prompt: Prompt, reply: Body, wrote: list[int]) -> Completion:
        """Returns the answer in a reply, or raises a Fault; adds its tokens to ``wrote``."""
        # Unusable replies count, too: servers charge for them.
        tokens_in, tokens_out = self.count_tokens(reply)
        wrote.append(tokens_out)
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            text, refusal = text_of(message.get("content")), message.get("refusal")
            finish = choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise Fault("the reply lacked its answer (choices, message)", "body") from None
        if not reply.get("usage"):
            self._accepted["stream"] = False  # some servers count the tokens of whole replies alone
        text = self.endpoint.scrub(printable(text)[0].strip(), shortest=8)
        refusal = self.endpoint.scrub(printable(refusal)[0]) if isinstance(refusal, str) else ""
        # A refusal takes the place of a label: it is shown as the wrong answer that it is.
        if not text and refusal and prompt.labels:
            text = refusal
        fingerprint = reply.get("system_fingerprint")
        ended, print_ = (each if isinstance(each, str) else "" for each in (finish, fingerprint))
        completion = Completion(text, tokens_in, tokens_out, ended, print_)
        # Without an answer, reasoning may have used up the tokens; else the model wrote nothing.
        visible, thinks = checks.spoken(text)
        if not visible and (thinks or ended == "length"):
            self._accepted[_ROOMY] = False
        elif not visible:
            reason = f": {refusal[:_ANSWER]}" if refusal else ""
            raise Fault(f"the answer was empty{reason}", "empty")
        self._usable(prompt, completion)
        return completion

    def _usable(self, prompt: Prompt, completion: Completion) -> str:
        """Returns the text or label of an answer, also a stored one, or raises a Fault."""
        text, thinks = checks.spoken(completion.text)
        cut, fails = completion.finish == "length", ""
        if prompt.words and not prompt.labels:
            fails = checks.checked(completion.text, cut, prompt.words, prompt.source)[1]
        elif thinks or (cut and not text):
            fails = "it was reasoning without an end"
        elif cut and (prompt.labels or prompt.json):
            fails = "it was cut off"
        elif prompt.labels:
            return self._label(prompt, text, completion)
        elif prompt.json and object_in(text) is None:
            fails = "it was no JSON object"
        if fails:
            # A text has an offline substitute; a missing label or answer needs the user's decision.
            kind = "text" if prompt.words or prompt.json else "length"
            raise Fault(f"the reply cannot be used, {fails}", kind, reply=completion)
        return text

    def _label(self, prompt: Prompt, text: str, completion: Completion) -> str:
        """Returns the label in the model's answer ``text``; raises a Fault if it is not legal."""
        known = {clean(label): label for label in prompt.labels}
        # The answer may be JSON, quoted, fenced, in other letter case or end with a full stop.
        answer = unfenced(text)
        with suppress(ValueError, RecursionError):
            value = json.loads(answer)
            value = value.get("label") if isinstance(value, dict) else value
            answer = str(value) if type(value) in (str, int) else answer
        answer = answer.strip(_QUOTES).removesuffix(".").strip(_QUOTES)
        if answer in known:
            return known[answer]
        alike = [label for label in known if label.casefold() == answer.casefold()]
        if len(alike) == 1:
            return known[alike[0]]
        shown = text if len(text) <= _ANSWER else text[:_ANSWER] + "…"
        what = f"the answer {shown!r} is none of the labels {', '.join(prompt.labels)}"
        raise Fault(what, "label", answer=text, reply=completion)


_TEXT_ONLY = (
    "Write the title line and then at most {} words of plain text, in your own words: no "
    "introduction, no list, every thing once, the last sentence finished."
)


def object_in(text: str) -> dict[str, Any] | None:
    """Returns the JSON object in a model's answer, also in a code fence; None without one."""
    try:
        value = json.loads(unfenced(text))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# --- labels ---------------------------------------------------------------------------------


def _response_format(form: str, labels: Sequence[str]) -> dict[str, Any]:
    """Returns the request parameter that allows ``{"label": <one of labels>}`` and nothing else."""
    schema = {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": list(dict.fromkeys(labels))}},
        "required": ["label"],
        "additionalProperties": False,
    }
    if form == "json_object":
        return {"type": form, "schema": schema}
    return {"type": form, form: {"name": "label", "strict": True, "schema": schema}}


def _instruction(labels: Sequence[str], form: str) -> str:
    """Returns a sentence that names the legal labels, for requests without a strict schema."""
    listed = ", ".join(json.dumps(label, ensure_ascii=False) for label in dict.fromkeys(labels))
    if form == "json_object":
        return f'Answer with the JSON object {{"label": …}}, the label being one of: {listed}'
    return f"Answer with exactly one of these labels and nothing else: {listed}"


def unfenced(text: str) -> str:
    """Returns a model's answer without the code fence that some models put around it."""
    fenced = _FENCE.match(text.strip())
    return fenced.group(1) if fenced else text.strip()
