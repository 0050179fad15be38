import pytest

from pocketlab.routes import Router, Template


def test_an_exact_address():
    template = Template("/about.html")
    assert template.match("/about.html") == {}
    assert template.match("/aboutxhtml") is None
    assert template.match("/about.html/more") is None


def test_text():
    template = Template("/users/{name}/edit")
    assert template.match("/users/ann/edit") == {"name": "ann"}
    assert template.match("/users/ann/x/edit") is None
    assert template.match("/users//edit") is None


def test_text_is_decoded():
    assert Template("/tags/{tag}").match("/tags/a%20b%2Fc") == {"tag": "a b/c"}


def test_whole_numbers():
    template = Template("/page/{number:int}")
    assert template.match("/page/-12") == {"number": -12}
    assert template.match("/page/1.5") is None


def test_slugs():
    template = Template("/{slug:slug}")
    assert template.match("/my-page-2") == {"slug": "my-page-2"}
    assert template.match("/my--page") is None
    assert template.match("/My-page") is None


def test_the_rest():
    template = Template("/files/{path:rest}")
    assert template.match("/files/a/b.txt") == {"path": "a/b.txt"}
    assert template.match("/files/") is None


def test_several_parts():
    template = Template("/{year:int}-{month:int}/{name}")
    assert template.kinds == {"year": "int", "month": "int", "name": "text"}
    assert template.match("/2024-05/x") == {"year": 2024, "month": 5, "name": "x"}


def test_bad_templates():
    cases = [
        ("/{a}/{a}", "a appears twice in /{a}/{a}"),
        ("/{a:rest}/x", "a must come last in"),
        ("/{a:real}", "unknown kind real in /{a:real}"),
    ]
    for template, message in cases:
        with pytest.raises(ValueError, match=message):
            Template(template)


def test_build():
    assert Template("/users/{id:int}/{tab}").build(id=7, tab="a b/c") == (
        "/users/7/a%20b%2Fc"
    )
    assert Template("/files/{path:rest}").build(path="a/b c") == "/files/a/b%20c"


def test_build_with_a_query():
    template = Template("/find/{what}")
    assert template.build(what="x", size=10, order="a&b") == (
        "/find/x?order=a%26b&size=10"
    )


def test_build_needs_every_part():
    with pytest.raises(ValueError, match="no value for a, c"):
        Template("/{a}/{b}/{c}").build(b="x")


def test_build_takes_only_what_match_gives_back():
    cases = [("/{a:int}", "7"), ("/{a:int}", "x"), ("/{a:slug}", "A"), ("/{a}", "")]
    for template, value in cases:
        with pytest.raises(ValueError, match="does not fit"):
            Template(template).build(a=value)


def test_rank():
    assert Template("/a/{b:int}/{c:slug}/{d}/{e:rest}").rank() == (0, 1, 2, 3, 4)
    assert Template("/").rank() == (0,)


@pytest.fixture
def router():
    return Router(
        {
            "file": "/{path:rest}",
            "user": "/users/{name}",
            "number": "/users/{id:int}",
            "me": "/users/me",
            "nick": "/users/{nick:slug}",
            "home": "/",
        }
    )


def test_the_strictest_route_wins(router):
    cases = [
        ("/", "home", {}),
        ("/users/me", "me", {}),
        ("/users/12", "number", {"id": 12}),
        ("/users/joe", "nick", {"nick": "joe"}),
        ("/users/Joe", "user", {"name": "Joe"}),
        ("/users/a/b", "file", {"path": "users/a/b"}),
        ("/users/12/", "number", {"id": 12}),
        ("/users/12?tab=/x", "number", {"id": 12}),
        ("/?a=b", "home", {}),
    ]
    for address, name, values in cases:
        assert router.find(address) == (name, values)


def test_no_route():
    with pytest.raises(LookupError, match="nothing at /b"):
        Router({"a": "/a"}).find("/b/?x=1")


def test_equally_strict_routes_go_in_order():
    router = Router({"first": "/x/{a}", "second": "/x/{b}"})
    assert router.find("/x/1") == ("first", {"a": "1"})
