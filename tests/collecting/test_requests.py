"""What is asked and what is read: paths, templates, engines' requests and answers, secrets."""

import json
from pathlib import Path as File

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collecting.server import docs, hits
from leadline.collecting.asking import Query
from leadline.collecting.engines import Wish, configured_target, engine_target, partial_answer
from leadline.collecting.outputs import read_collected, run_of_rows
from leadline.collecting.paths import NotThere, Path
from leadline.collecting.reply import FIELDS, UnusableReply, read_map, read_reply
from leadline.collecting.target import HttpTarget, file_target, filled, simple_target
from leadline.errors import InputError, RowsError, UnknownNameError, UsageError


def test_a_path_tells_missing_from_empty() -> None:
    path = Path.parse("hits.hits[*]._id")
    assert path.follow(hits()) == []
    with pytest.raises(NotThere, match=r"nothing at hits\.hits"):
        path.follow({"hits": {}})
    with pytest.raises(NotThere, match="no list at"):
        path.follow({"hits": {"hits": {"_id": "a"}}})
    assert Path.parse('a["b.c"][1]').follow({"a": {"b.c": [1, 2]}}) == 2
    assert Path.parse("$[*].x[*]").follow([{"x": [1]}, {"x": [2, 3]}]) == [1, 2, 3]
    for wrong in ("", "a[", "a[x]", 'a["'):
        with pytest.raises(UsageError):
            Path.parse(wrong)


@given(st.text(), st.integers(1, 1000))
def test_a_query_arrives_as_it_is(text: str, k: int) -> None:
    """Quotes, braces and line ends of a query cannot change the request around it."""
    got = filled({"q": "{query}", "deep": [{"k": "{k}", "both": "{query}/{k}"}]}, {"query": text, "k": k})
    assert got == {"q": text, "deep": [{"k": k, "both": f"{text}/{k}"}]}


def test_the_requests_of_the_engines() -> None:
    elastic = engine_target("elasticsearch", "http://h:9200/docs/", Wish(["title^2"], "body"))
    asked = elastic.request('say "hi"', 7, "q1")
    assert (asked.method, asked.url) == ("POST", "http://h:9200/docs/_search")
    assert json.loads(asked.body or b"") == {
        "size": 7,
        "query": {"multi_match": {"query": 'say "hi"', "fields": ["title^2"]}},
        "_source": ["body"],
    }
    solr = engine_target("solr", "http://h:8983/solr/docs", Wish(["title", "body"]))
    assert json.loads(solr.request("pump", 5, "q").body or b"") == {
        "query": "pump",
        "limit": 5,
        "fields": ["id", "score"],
        "params": {"defType": "edismax", "qf": "title body"},
    }
    with pytest.raises(UsageError, match="ends in the index"):
        engine_target("elasticsearch", "http://h:9200", Wish())


def test_the_answers_of_the_engines() -> None:
    elastic = engine_target("elasticsearch", "http://h:9200/docs", Wish(text_field="body"))
    reply = read_reply(hits(("a", 2.5), ("b", 1.0)), elastic.paths)
    assert (reply.ids, reply.scores, reply.texts) == (("a", "b"), (2.5, 1.0), ("text of a", "text of b"))
    solr = engine_target("solr", "http://h:8983/solr/docs", Wish(text_field="body"))
    # Solr gives a field of several values as a list.
    assert read_reply(docs(("a", 2.5)), solr.paths).texts == ("text of a",)
    # A list sorted by a field has null scores in Elasticsearch: its order is all there is.
    unscored = {"hits": {"hits": [{"_id": "a", "_score": None}]}}
    assert (
        read_reply(unscored, read_map({"ids": "hits.hits[*]._id", "scores": "hits.hits[*]._score"})).scores
        is None
    )
    with pytest.raises(UnusableReply, match="ids: nothing at response"):
        read_reply({"error": {"code": 400}}, solr.paths)


@pytest.mark.parametrize("shape", ["plain", "source", "hits"])
def test_a_search_configuration(shape: str) -> None:
    own = {
        "name": "n",
        "index": "docs",
        "query": json.dumps({"query": {"match": {"body": "%SearchText%"}}, "size": 3}),
    }
    given = {
        "plain": own,
        "source": {"_source": own},
        "hits": {"hits": {"hits": [{"_id": "1", "_source": own}]}},
    }[shape]
    target = configured_target("http://h:9200", given, Wish(), "c.json")
    asked = target.request("x", 50, "q")
    assert asked.url == "http://h:9200/docs/_search"
    # The configuration's own size gives way to k.
    assert json.loads(asked.body or b"") == {"query": {"match": {"body": "x"}}, "size": 50}
    for wrong in (
        {"index": "docs"},
        {"index": "docs", "query": "{"},
        {"index": "docs", "query": "{}"},
        {"hits": {"hits": []}},
    ):
        with pytest.raises(InputError):
            configured_target("http://h:9200", wrong, Wish(), "c.json")


def test_partial_answers_are_told() -> None:
    assert partial_answer("elasticsearch", hits(("a", 1.0))) == ""
    broken = hits(("a", 1.0), _shards={"total": 5, "failed": 2})
    assert partial_answer("opensearch", broken) == "partial: 2 of 5 shards failed"
    assert partial_answer("", {"timed_out": True}) == ""


def test_replies_without_a_map() -> None:
    assert read_reply(["a", 7], {}).ids == ("a", "7")
    reply = read_reply([{"id": "a", "score": 2, "text": "t"}], {})
    assert (reply.ids, reply.scores, reply.texts) == (("a",), (2.0,), ("t",))
    reply = read_reply({"ids": ["a"], "contexts": ["sent"], "answer": "yes", "input_tokens": 12}, {})
    assert (reply.contexts, reply.told) == (("sent",), {"answer": "yes", "input_tokens": 12})
    # A pipeline that only says what it sent: that is then the ranking, too.
    assert read_reply({"context_ids": ["a"]}, {}).ids == ("a",)
    for wrong in (
        "text",
        {"documents": []},
        [None],
        {"ids": "abc"},
        {"ids": ["a"], "scores": [1, 2]},
        [{"score": 1}],
    ):
        with pytest.raises(UnusableReply):
            read_reply(wrong, {})


def test_a_missing_answer_is_no_error_but_missing_ids_are() -> None:
    where = read_map({"ids": "r[*].id", "answer": "answer.text", "contexts": "sent[*]"})
    assert read_reply({"r": []}, where).told == {}
    with pytest.raises(UnusableReply, match="ids"):
        read_reply({"answer": {"text": "x"}}, where)


def test_a_template_file(tmp_path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH", "Bearer s3cret-token")
    path = tmp_path / "t.toml"
    path.write_text(
        'url = "http://h/search"\n[headers]\nAuthorization = "AUTH"\n[body]\nq = "{query}"\nn = "{k}"\n'
        '[map]\nids = "r[*]"\n'
    )
    target = file_target(str(path), {}, {})
    asked = target.request("x", 3, "q")
    assert (asked.method, asked.headers["Authorization"]) == ("POST", "Bearer s3cret-token")
    assert "s3cret" not in repr(target) + repr(asked) + target.name + json.dumps(target.identity)
    assert target.secrets == ("Bearer s3cret-token", "s3cret-token")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('url = "http://h/{query}"\nbuddy = 1', UnknownNameError),
        ("[body]\nq = '{query}'", InputError),
        ('url = "http://h/s"', InputError),
        ('url = "http://h/{query}"\nmethod = "DELETE"', InputError),
        ('url = "http://h/{query}"\n[map]\nid = "x"', UnknownNameError),
        ('url = "ftp://h/{query}"', UsageError),
        ("url = ", InputError),
    ],
)
def test_wrong_templates(tmp_path: File, text: str, kind: type[Exception]) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(kind):
        file_target(str(path), {}, {})


def test_secrets_come_from_the_environment_and_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="names an environment variable") as caught:
        simple_target("http://h/s", {"Authorization": "Bearer s3cret"}, {})
    assert "s3cret" not in str(caught.value)
    monkeypatch.delenv("NO_SUCH_ONE", raising=False)
    with pytest.raises(UsageError, match="no NO_SUCH_ONE"):
        simple_target("http://h/s", {"Authorization": "NO_SUCH_ONE"}, {})
    with pytest.raises(UsageError, match="no name or password") as caught:
        simple_target("http://me:s3cret@h/s", {}, {})
    assert "s3cret" not in str(caught.value)
    assert HttpTarget("http://h/s?key=s3cret", "GET").name == "GET http://h/s"


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*FIELDS, "hits", "_id", "score"]), inner, max_size=5)
    ),
    max_leaves=20,
)
maps = st.sampled_from(
    [{}, {"ids": "hits[*]._id", "scores": "hits[*].score", "answer": "answer"}, {"context_ids": "$[*]"}]
)


@given(values, maps)
def test_whatever_comes_back_is_a_reply_or_an_unusable_one(value: object, where: dict[str, str]) -> None:
    try:
        reply = read_reply(value, read_map(where))
    except UnusableReply:
        return
    assert all(isinstance(own, str) and own for own in reply.ids)
    assert reply.scores is None or len(reply.scores) == len(reply.ids)
    assert reply.texts is None or len(reply.texts) == len(reply.ids)


@pytest.mark.parametrize(
    "url", ["http://a b/{query}", "http://h\x7f/{query}", "http://[h/{query}", f"http://{'h' * 64}/{{query}}"]
)
def test_an_address_that_no_host_can_have(url: str) -> None:
    with pytest.raises(UsageError, match="no usable address"):
        simple_target(url, {}, {})


@pytest.mark.parametrize(
    "row",
    [
        {"retrieved_ids": 5},
        {"retrieved_ids": "ab"},
        {"retrieved_ids": [None]},
        {"retrieved_ids": ["\ud800"]},
        {"retrieved_ids": ["a"], "scores": [1, 2]},
        {"retrieved_ids": ["a"], "scores": "1"},
        {"retrieved_ids": ["a"], "scores": [float("nan")]},
        {"query_id": "", "retrieved_ids": []},
        {},
    ],
)
def test_rows_that_no_collection_wrote(tmp_path: File, row: dict[str, object]) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"query_id": "q"} | row) + "\n")
    with pytest.raises(RowsError, match="line 1"):
        read_collected(path)


def test_rows_of_a_collection_are_a_run(tmp_path: File) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"query_id": "q", "retrieved_ids": ["a", 7], "scores": [2, 1.5]}\n{"query_id": "r", "error": "no"}\n'
    )
    run = run_of_rows([Query("q", "?"), Query("r", "?")], read_collected(path), "live")
    assert run.frame.select("query_id", "doc_id", "score").rows() == [("q", "a", 2.0), ("q", "7", 1.5)]
    assert run.failed == {"r": "no"}
