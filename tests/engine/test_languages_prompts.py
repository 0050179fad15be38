"""Prompts in other languages, and answers that hold a region in every form: it comes back to the character."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest
from answer_forms import BARE, FENCED
from chat_server import Answer, chat_server, completion

from rtc_inspector.core.generation import INFILL, PLAIN, Prompt, Request
from rtc_inspector.core.languages import LANGUAGES, Language, language_for
from rtc_inspector.core.models.answers import answer_of
from rtc_inspector.core.models.extraction import extract_code, extract_description
from rtc_inspector.core.models.prompts import backward_prompt, forward_prompt
from rtc_inspector.core.models.remote import RemoteModel, Served
from rtc_inspector.core.regions.admission import as_item
from rtc_inspector.core.regions.candidates import enumerate_candidates
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, RegionSettings
from rtc_inspector.core.types import Item, SourceFile, Span

GROWN = [each for each in LANGUAGES if each.grammar is not None]
FILES = {
    "range.js": "const { parse } = require('./parse.js')\n\nclass Range {\n  constructor (text, options) {\n"
    "    this.options = options\n    if (options instanceof Comparator) {\n      this.loose = options.loose\n"
    "      this.text = `a\n  template of ${options.loose}\nlines`\n    } else {\n      this.range = parse(text, {\n"
    "        loose: true,\n      })\n    }\n    return this.format(\n      text,\n      options\n    )\n  }\n\n"
    "  test (version) {\n    for (const each of this.range) {\n      if (each === version) { return each.known() }\n"
    "    }\n    return false\n  }\n}\n\nmodule.exports = Range\n",
    "range.ts": "export class Range {\n  loose = false;\n\n  test(versions: string[]): boolean {\n"
    "    const known: Record<string, number> = {};\n    versions.forEach((version) => {\n"
    "      known[version] = (known[version] ?? 0) + 1;\n    });\n    return Object.keys(known).length > 1;\n  }\n}\n",
    "list.tsx": "export function List(props: { items: string[] }) {\n  const items = props.items.map((item) => (\n"
    "    <li key={item}>{item}</li>\n  ));\n  return <ul>{items}</ul>;\n}\n",
    "cast.go": 'package cast\n\nimport "errors"\n\nfunc (c *Caster) ToInt(value any) (int, error) {\n'
    "\tif text, ok := value.(string); ok {\n\t\tnumber, err := strconv.Atoi(text)\n\t\tif err != nil {\n"
    '\t\t\treturn 0, errors.New(`no\n  number`)\n\t\t}\n\t\treturn number, nil\n\t}\n\tc.counts["other"]++\n'
    '\treturn 0, errors.New("no number of that kind")\n}\n',
    "account.rs": "use std::fmt;\n\nimpl Account {\n"
    "    pub fn withdraw(&mut self, amount: u64) -> Result<u64, String> {\n"
    '        if amount > self.balance {\n            return Err("insufficient funds".to_string());\n        }\n'
    "        self.balance -= amount;\n        let names: Vec<_> = self.names.iter()\n"
    "            .filter(|name| name.len() > 2)\n"
    '            .collect();\n        self.log("taken", &names);\n        Ok(self.balance)\n    }\n}\n',
}
SMALL = RegionSettings(min_characters=20, max_characters=400)
SOURCES = {path: SourceFile(path, text, "utf-8", False) for path, text in FILES.items()}
SOURCES["windows.ts"] = SourceFile("windows.ts", FILES["range.ts"].replace("\n", "\r\n"), "utf-8", False)
ITEMS = [as_item(region) for source in SOURCES.values() for region in enumerate_candidates(source, SMALL)]


def always(prompt: Prompt) -> bool:
    return True


def named(item: Item) -> str:
    return f"{item.path}-{item.start_line}-{item.end_line}"


def whole_lines(item: Item) -> str:
    """As a model copies them from a prompt, with the line ends that it is used to."""
    lines = SOURCES[item.path].text.replace("\r\n", "\n").split("\n")
    return "\n".join(lines[item.start_line - 1 : item.end_line])


def copies(item: Item) -> Iterator[tuple[str, str]]:
    """The region bare, as it stands in the file, and moved to the margin."""
    yield "bare", item.text.replace("\r\n", "\n")
    lines = whole_lines(item)
    if lines.strip() == item.text.replace("\r\n", "\n").strip():
        yield "lines", lines
        if "`" not in lines:
            yield "dedented", textwrap.dedent(lines)


@pytest.mark.parametrize("item", ITEMS[::2], ids=named)
def test_a_region_comes_back_to_the_character_whatever_its_form(item: Item) -> None:
    text, fence = SOURCES[item.path].text, language_for(item.path).fences[0]
    for name, code in copies(item):
        for form, wrap in {**BARE, **FENCED}.items():
            if form in ("usage after", "long usage after", "mid-line", "odd tag", "attributes"):
                continue
            if "`" in code and form not in ("bare", "fence", "no tag", "prose before", "tildes"):
                continue
            sent = wrap(code).replace("python", fence)
            found = extract_code(sent, item, text, "")
            assert found.text == item.text, (name, form, sent, found)
            assert "unparsable" not in found.steps


def test_what_stands_around_a_region_is_taken_off() -> None:
    source = SOURCES["range.js"]
    item = next(each for each in ITEMS if each.path == "range.js" and each.text.startswith("if (options"))
    lines = source.text.split("\n")
    body = "\n".join(lines[4 : item.end_line + 4])
    answers = {
        "the whole file": source.text,
        "its class": source.text[source.text.index("class") : source.text.index("module")],
        "its method": "\n".join(lines[3 : lines.index("  }") + 1]),
        "its neighbours": body,
        "a head without its end": "\n".join(lines[3 : item.end_line]),
        "an end without its head": "\n".join(lines[item.start_line - 1 : item.end_line]) + "\n  }\n}",
    }
    for name, answer in answers.items():
        for sent in (answer, f"```js\n{textwrap.dedent(answer)}\n```"):
            found = extract_code(sent, item, source.text, "")
            if "`" not in item.text or sent == answer:
                assert found.text == item.text, (name, found)
            assert "unparsable" not in found.steps, name


def test_what_stands_inside_a_block_is_kept_though_it_looks_like_its_head() -> None:
    text = "function f(a) {\n  if (a) {\n    g(a);\n    if (a) {\n      h(a);\n    }\n  }\n}\n"
    start = text.index("g(a);")
    inner = text[start : text.index("\n  }\n}")]
    item = Item("k", "region", "f.js", Span(start, start + len(inner)), 3, 6, inner)
    found = extract_code(inner, item, text, "")
    assert found.text == inner and found.steps in ((), ("reindented",))


@pytest.mark.parametrize("language", GROWN, ids=lambda language: language.name)
@pytest.mark.parametrize("layout", ["shared", "paper"])
def test_prompts_speak_the_language(language: Language, layout: str) -> None:
    path = next(each for each in FILES if language_for(each) is language)
    item = next(each for each in ITEMS if each.path == path)
    text = FILES[path]
    forward = forward_prompt(text, item.span, always, layout=layout, language=language)
    backward = backward_prompt(text, item.span, "Does it.\nThen more.", always, layout=layout, language=language)
    fence, mark = language.fences[0], language.comment
    for prompt in (forward, backward):
        said = "\n".join(message.content for message in prompt.messages)
        assert language.name in prompt.messages[0].content and "Python" not in said and "# " not in said
        assert f"```{fence}\n" in said
        assert [message.role for message in prompt.messages] == ["system", *["user", "assistant"] * 3, "user"]
    assert (
        f"{mark} TODO: Does it." in backward.messages[-1].content
        and f"{mark} Then more." in backward.messages[-1].content
    )
    assert backward.prefill == f"```{fence}\n"
    code = forward_prompt(text, item.span, always, style="code", language=language)
    assert [message.role for message in code.messages] == [PLAIN]
    assert code.messages[0].content.count(f"{mark} Summary:") == 4 and code.block is not None
    assert code.block.comment == mark
    gap = backward_prompt(text, item.span, "Does it.", always, style=INFILL, language=language).infill
    assert gap is not None and f"{mark} TODO: Does it.\n" in gap.before and gap.after in text


def test_an_excerpt_of_braces_keeps_heads_with_their_ends() -> None:
    functions = [f"function f{n}(x) {{\n  const a{n} = x * {n};\n  return a{n} + 1;\n}}\n" for n in range(40)]
    text = "import z from 'z';\n" + "\n".join(functions)
    source = SourceFile("many.js", text, "utf-8", False)
    region = next(each for each in enumerate_candidates(source, SMALL) if each.text.startswith("const a20"))

    def small(prompt: Prompt) -> bool:
        return sum(len(each.content) for each in prompt.messages) < 2800

    prompt = backward_prompt(text, region.span, "Does it.", small, language=language_for("many.js"))
    shown = prompt.messages[-1].content
    assert prompt.truncated and "// ..." in shown and "import z from 'z'" in shown
    assert "function f20(x) {\n  // TODO\n}" in shown
    assert shown.count("{\n") == shown.count("}\n")


@pytest.mark.parametrize("style", ["chat", "completion", "code"])
def test_a_server_that_answers_with_the_region_gives_it_back(style: str) -> None:
    """In turns with a fence, as plain text behind the fence, and written into the file, whose end is not part of it."""
    items = {str(number): item for number, item in enumerate(ITEMS)}
    prompts: dict[str, Prompt] = {}
    for number, item in items.items():
        kind = "code" if style == "code" else "chat"
        language = language_for(item.path)
        prompts[number] = backward_prompt(
            SOURCES[item.path].text, item.span, f"Does «{number}».", always, kind, language=language
        )

    def script(number: int, body: dict[str, object]) -> Answer:
        asked = str(body.get("messages") or body["prompt"])
        item = items[asked.rsplit("«", 1)[1].split("»")[0]]
        fence = language_for(item.path).fences[0]
        region = item.text.replace("\r\n", "\n")
        if style == "code":
            rest = SOURCES[item.path].text[item.span.end :].replace("\r\n", "\n")
            prefill = prompts[asked.rsplit("«", 1)[1].split("»")[0]].prefill
            head = whole_lines(item).split("\n")[0]
            sent = head[len(prefill) : len(head) - len(head.lstrip())] + region + rest
        else:
            sent = f"```{fence}\n{whole_lines(item)}\n```" if style == "chat" else f"{region}\n```"
        return 200, completion(sent), {}

    with chat_server(script) as server:
        model = RemoteModel(EndpointSettings(server.address, "m"), ModelSettings(prompt_style=style), Served("m"))
        requests = [Request(number, prompt, 0.0, 1, 400) for number, prompt in prompts.items()]
        found = {each.id: each for each in model.generate(requests)}
        model.close()
    for number, item in items.items():
        answer = answer_of(found[number], prompts[number])
        read = extract_code(answer.text, item, SOURCES[item.path].text, answer.prompt.prefill)
        # Where more of the block follows at the same depth a file written on does not end by itself.
        if style != "code":
            assert read.text == item.text, (item, found[number].text, read)
        else:
            assert read.text.startswith(item.text) or read.text == item.text, (item, found[number].text, read)


def test_a_description_is_read_without_its_comment_signs() -> None:
    assert (
        extract_description("Adds up:\n// - the first\n// - the others").text == "Adds up:\n- the first\n- the others"
    )
    assert extract_description("Throws.\n```js\nthrow new Error('x');\n```").text == "Throws."
