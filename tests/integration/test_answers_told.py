"""How many answers could not be read: counted once, said beside every headline; a run that hears nothing is held."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chat_server import Answer, chat_server, completion
from projects import write_shop

from rtc_inspector.app.cli import main
from rtc_inspector.core.analyses.scores import scores
from rtc_inspector.core.run.results import open_reader
from rtc_inspector.core.store.rows import Answers
from rtc_inspector.ui.report.page import write_report
from rtc_inspector.ui.shell.bars import run_summary

PROJECT_RUN = ["--forward-samples", "2", "--sandbox", "none", "--json"]


def test_shares_and_words() -> None:
    told = Answers(made=20, empty=5, thinking=4, cut=1, code=10, without_code=1, unparsable=2)
    assert told.shares == {"empty": 0.25, "cut": 0.05, "without_code": 0.1, "unparsable": 0.2}
    shares = "of 20 answers 0.25 empty, 0.05 cut at their limit, 0.10 without code, 0.20 code that"
    assert told.remark.startswith(shares)
    assert told.remark.endswith("are they read rightly?") and "--thought-tokens" in told.notices["empty"]
    assert set(told.notices) == {"empty", "without_code", "unparsable"}
    assert (Answers(made=9, code=9).remark, Answers().remark, Answers().shares) == ("", "", {})
    assert told + told == Answers(40, 10, 8, 2, 20, 2, 4)


def said(number: int, body: dict[str, object]) -> Answer:
    """A description; then code, words alone, nothing, half a line, something cut, in turn."""
    question = json.dumps(body["messages"][-1])  # type: ignore[index]
    if "TODO" not in question:
        return 200, completion("It does something.", model="m"), {}
    kinds = ("```python\npass\n```", "I am sorry, but I cannot do this.", "<think>Well, well", "for x in (")
    return 200, completion(kinds[int(str(body["seed"])) % 4], model="m"), {}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, known: Path) -> Path:
    return write_shop(tmp_path_factory.mktemp("project") / "shop")


def run_json(
    shop: Path, folder: Path, address: str, capsys: pytest.CaptureFixture[str], *more: str
) -> tuple[int, dict[str, object], str]:
    database = folder / "runs.sqlite"
    options = ["run", str(shop), "--endpoint", address, "--db", str(database), *PROJECT_RUN, *more]
    status = main(options)
    out, err = capsys.readouterr()
    return status, json.loads(out.strip().splitlines()[-1]), err


def test_every_face_says_the_shares(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(said) as server:
        _, finished, err = run_json(shop, tmp_path, server.address, capsys, "--regions", "4")
    told = finished["answers"]
    assert isinstance(told, dict) and told["made"] == finished["samples"] and told["code"] == told["made"] * 3 // 5
    assert told["empty"] and told["without_code"] and told["unparsable"] and told["shares"]["empty"] > 0
    database = str(tmp_path / "runs.sqlite")
    assert "hold no code" in err and "do not parse" in err
    with open_reader(tmp_path / "runs.sqlite") as reader:
        run = reader.run(1)
        assert run.answers.made == told["made"] and run.answers.remark in run.remarks
        assert run.answers.words in run_summary(run)
        assert [row.cells[0] for row in scores(run).rows][-4:] == [
            "answers empty",
            "answers cut",
            "without code",
            "unparsable",
        ]
        write_report(reader, 1, tmp_path / "r.html")
        stored = [sample for item in reader.items(1) for sample in reader.samples(item.id)]
    assert "without code" in (tmp_path / "r.html").read_text()
    assert {"thoughts-unended", "no-code", "unparsable"} <= {step for each in stored for step in each.extraction_steps}
    main(["runs", "--db", database, "--json"])
    assert json.loads(capsys.readouterr().out)["answers"] == told
    main(["runs", "--db", database])
    assert "without code" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("text", "reason", "option"),
    [
        ("<think>Well, well", "length", "--thought-tokens"),
        ("", "stop", "--prompt-style"),
        ("It d", "length", "max-tokens"),
    ],
)
def test_a_run_that_hears_nothing_is_held(
    text: str, reason: str, option: str, shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = [{"message": {"content": text}, "finish_reason": reason}]
    with chat_server(lambda n, body: (200, json.dumps({"choices": choice, "model": "m"}).encode(), {})) as server:
        status, finished, err = run_json(
            shop, tmp_path, server.address, capsys, "--regions", "4", "--thought-tokens", "0", "--concurrency", "1"
        )
        asked = len(server.asked)
        assert (status, finished["status"], finished["samples"]) == (1, "incomplete", 8)
        assert "first 8 answers were empty or cut" in err and option in err and "--resume 1" in err
        status = main(["run", "--resume", "1", "--db", str(tmp_path / "runs.sqlite"), "--json"])
        finished = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert (finished["status"], finished["samples"]) == ("finished", 10) and len(server.asked) > asked
