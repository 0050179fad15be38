import pytest

from pocketlab.workflow import Case, Move, MoveError, Workflow

EDITORS = frozenset({"editor", "chief"})


def is_short(facts):
    return facts["words"] < 1000


@pytest.fixture
def flow():
    return Workflow(
        "draft",
        [
            Move("submit", ("draft", "returned"), "published", EDITORS, is_short),
            Move("submit", ("draft", "returned"), "review"),
            Move("accept", ("review",), "published", EDITORS),
            Move("return", ("review",), "returned", EDITORS),
            Move("restore", ("archived",), "draft", frozenset({"chief"})),
        ],
    )


def test_stages_in_order_of_mention(flow):
    assert flow.stages == ["draft", "returned", "published", "review", "archived"]


def test_a_case_starts_at_the_first_stage(flow):
    assert flow.start(words=10) == Case("draft", {"words": 10}, [])


def test_cases_share_nothing(flow):
    one, other = Case("draft"), Case("draft")
    one.facts["words"] = 5
    flow.move(one, "submit", "author")
    assert other == Case("draft", {}, [])


def test_move(flow):
    case = flow.start(words=5000)
    assert flow.move(case, "submit", "author") == "review"
    assert flow.move(case, "return", "chief") == "returned"
    assert flow.move(case, "submit", "author") == "review"
    assert case.stage == "review"
    assert case.history == [
        ("draft", "submit", "author"),
        ("review", "return", "chief"),
        ("returned", "submit", "author"),
    ]


def test_the_first_possible_move_is_made(flow):
    assert flow.move(flow.start(words=999), "submit", "editor") == "published"
    assert flow.move(flow.start(words=999), "submit", "author") == "review"
    assert flow.move(flow.start(words=1000), "submit", "editor") == "review"


def test_an_unknown_move(flow):
    with pytest.raises(MoveError, match="there is no move 'burn'"):
        flow.move(flow.start(), "burn", "chief")


def test_a_move_from_elsewhere(flow):
    case = flow.start()
    with pytest.raises(MoveError, match="'accept' is not possible in stage 'draft'"):
        flow.move(case, "accept", "chief")
    assert case == flow.start()


def test_a_move_for_others(flow):
    with pytest.raises(MoveError, match="'accept' needs one of: chief, editor"):
        flow.move(Case("review"), "accept", "author")


def test_a_move_that_the_facts_forbid():
    flow = Workflow("a", [Move("go", ("a",), "b", allowed=is_short)])
    with pytest.raises(MoveError, match="'go' is not allowed as things stand"):
        flow.move(flow.start(words=2000), "go", "anybody")
    assert flow.move(flow.start(words=20), "go", "anybody") == "b"


def test_choices(flow):
    assert flow.choices(Case("review"), "editor") == ["accept", "return"]
    assert flow.choices(Case("review"), "author") == []
    assert flow.choices(Case("published"), "chief") == []


def test_choices_name_a_move_once(flow):
    assert flow.choices(flow.start(words=5), "editor") == ["submit"]


def test_choices_depend_on_facts():
    flow = Workflow("a", [Move("go", ("a",), "b", allowed=is_short)])
    assert flow.choices(flow.start(words=999), "x") == ["go"]
    assert flow.choices(flow.start(words=1000), "x") == []


def test_undo(flow):
    case = flow.start(words=5000)
    flow.move(case, "submit", "author")
    flow.move(case, "return", "editor")
    assert flow.undo(case, "editor") == "review"
    assert case.stage == "review"
    assert case.history == [("draft", "submit", "author")]


def test_undo_is_for_the_maker(flow):
    case = flow.start(words=5000)
    flow.move(case, "submit", "author")
    with pytest.raises(MoveError, match="'submit' was done by author"):
        flow.undo(case, "chief")
    assert case.stage == "review"


def test_nothing_to_undo(flow):
    with pytest.raises(MoveError, match="nothing has happened yet"):
        flow.undo(flow.start(), "author")


def test_final_stages(flow):
    assert flow.final_stages() == ["published"]
    assert Workflow("only", []).final_stages() == ["only"]


def test_unreachable(flow):
    assert flow.unreachable() == ["archived"]


def test_reaching_far_stages_in_any_order_of_moves():
    moves = [
        Move("z", ("c", "x"), "d"),
        Move("y", ("b",), "c"),
        Move("w", ("a",), "b"),
    ]
    assert Workflow("a", moves).unreachable() == ["x"]
