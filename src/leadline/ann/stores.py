"""Indexes in a database: a LanceDB table, an embedded Qdrant shard, a PostgreSQL table with pgvector."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from leadline.ann.target import Allowed, Facts, Setting, Wanted, no_such_setting
from leadline.errors import InputError, LeadlineError, MissingExtraError, UsageError, first_line, printable


def _names(kind: str, wanted: Wanted, usual: dict[str, str]) -> dict[str, str]:
    """The settings that say where the vectors stand, with their defaults."""
    found = {name: str(wanted.settings.get(name, value)) for name, value in usual.items()}
    if not wanted.place:
        raise UsageError(f"--target {kind}: says no place")
    for name, value in found.items():
        if not value:
            raise UsageError(f"--target {kind} needs --set {name}=NAME")
    return found


class LanceTable:
    """LanceDB: `lancedb:FOLDER` with `table`, `column` (vector), `id` (id); `nprobes`, `refine_factor`, `ef` in search."""

    SEARCH = ("nprobes", "refine_factor", "ef")

    def __init__(self, wanted: Wanted) -> None:
        try:
            import lancedb
        except ImportError:
            raise MissingExtraError("a LanceDB table", "lancedb") from None
        self.names = _names("lancedb", wanted, {"table": "", "column": "vector", "id": "id"})
        if not Path(wanted.place).is_dir():
            raise InputError(f"{printable(wanted.place)}: there is no such LanceDB folder")
        try:
            self.table = lancedb.connect(wanted.place).open_table(self.names["table"])
        except Exception as error:
            raise InputError(f"{printable(wanted.place)}: LanceDB: {first_line(error)}") from None
        columns = self.table.schema.names
        for name in ("column", "id"):
            if self.names[name] not in columns:
                raise InputError(
                    f"{printable(wanted.place)}: the table has no column {printable(self.names[name])!r}; "
                    f"it has {', '.join(map(printable, columns))} (--set {name}=NAME)"
                )
        self.metric, self.tuned = wanted.metric, dict[str, int]()
        for name, value in wanted.settings.items():
            if name not in self.names:
                self.change(name, value)

    def facts(self) -> Facts:
        """Rows, dimensions and the metric of its index."""
        metric = None
        for index in self.table.list_indices():
            if self.names["column"] in index.columns:
                stats = self.table.index_stats(index.name)
                found = None if stats is None else stats.distance_type
                metric = {"cosine": "cosine", "l2": "l2", "dot": "ip"}.get(str(found))
        size = getattr(self.table.schema.field(self.names["column"]).type, "list_size", None)
        return Facts(self.table.count_rows(), size, metric)

    def change(self, name: str, value: Setting) -> None:
        """Set `nprobes`, `refine_factor` or `ef`."""
        if name not in self.SEARCH:
            raise no_such_setting("lancedb", name, [*self.SEARCH, *self.names])
        if not isinstance(value, int) or value < 1:
            raise UsageError(f"lancedb: {name}={value} is no whole number of at least 1")
        self.tuned[name] = value

    def _query(self, query: Any, k: int, allowed: Allowed) -> Any:
        wanted: Any = self.table.search(query, vector_column_name=self.names["column"]).limit(k)
        wanted = wanted.distance_type("dot" if self.metric == "ip" else self.metric)
        if allowed is not None:
            listed = ", ".join("'" + one.replace("'", "''") + "'" for one in allowed)
            wanted = wanted.where(
                f"CAST({self.names['id']} AS STRING) IN ({listed or 'NULL'})", prefilter=True
            )
        return wanted.select([self.names["id"], "_distance"])

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Approximate neighbours, where the table has an index; else exact ones."""
        wanted = self._query(query, k, allowed)
        for name, value in self.tuned.items():
            wanted = getattr(wanted, name)(value)
        return [str(one) for one in wanted.to_arrow()[self.names["id"]].to_pylist()]

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """The same past the index."""
        wanted = self._query(query, k, allowed).bypass_vector_index()
        return [str(one) for one in wanted.to_arrow()[self.names["id"]].to_pylist()]

    def close(self) -> None:
        """Nothing to let go of."""


class QdrantShard:
    """An embedded Qdrant shard: `qdrant:FOLDER` with `vector` (its name, where it has one) and `id` (a field of the
    payload that holds the id; else the point's id); `hnsw_ef` in search.
    """

    ef: int | None

    def __init__(self, wanted: Wanted) -> None:
        try:
            import qdrant_edge
        except ImportError:
            raise MissingExtraError("an embedded Qdrant shard", "qdrant") from None
        self.qdrant, self.ef, self.place = qdrant_edge, None, wanted.place
        self.using = str(wanted.settings["vector"]) if "vector" in wanted.settings else None
        self.id_field = str(wanted.settings["id"]) if "id" in wanted.settings else None
        if not Path(wanted.place).is_dir():
            raise InputError(f"{printable(wanted.place) or 'qdrant'}: there is no such Qdrant folder")
        for name, value in wanted.settings.items():
            if name not in ("vector", "id"):
                self.change(name, value)
        try:
            self.shard = qdrant_edge.EdgeShard.load(wanted.place)
        except Exception as error:
            raise InputError(f"{printable(wanted.place)}: Qdrant: {first_line(error)}") from None

    def facts(self) -> Facts:
        """Rows, and dimensions and metric where the shard tells."""
        size = metric = None
        # The shard tells neither through its interface; its own settings, beside the data, do.
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            held = json.loads((Path(self.place) / "edge_config.json").read_text())["vectors"][
                self.using or ""
            ]
            size = int(held["size"])
            metric = {"Cosine": "cosine", "Dot": "ip", "Euclid": "l2"}.get(held["distance"])
        return Facts(int(self.shard.count(self.qdrant.CountRequest(exact=True))), size, metric)

    def change(self, name: str, value: Setting) -> None:
        """Set `hnsw_ef`."""
        if name != "hnsw_ef":
            raise no_such_setting("qdrant", name, ["hnsw_ef", "vector", "id"])
        if not isinstance(value, int) or value < 1:
            raise UsageError(f"qdrant: hnsw_ef={value} is no whole number of at least 1")
        self.ef = value

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Approximate neighbours, where the shard has an index."""
        return self._asked(query, k, allowed, self.qdrant.SearchParams(hnsw_ef=self.ef))

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """The same past the index."""
        return self._asked(query, k, allowed, self.qdrant.SearchParams(exact=True))

    def _asked(self, query: Any, k: int, allowed: Allowed, params: Any) -> Sequence[str]:
        q, inside = self.qdrant, None
        if allowed is not None:
            if self.id_field:
                condition: Any = q.FieldCondition(key=self.id_field, match=q.MatchAny(list(allowed)))
            else:
                condition = q.HasIdCondition({int(one) if one.isdigit() else one for one in allowed})
            inside = q.Filter(must=[condition])
        found = self.shard.query(
            q.QueryRequest(
                limit=k,
                query=q.Query.Nearest(query.tolist(), using=self.using),
                filter=inside,
                params=params,
                with_payload=self.id_field is not None,
            )
        )
        if self.id_field is None:
            return [str(one.id) for one in found]
        return [str((one.payload or {})[self.id_field]) for one in found]

    def close(self) -> None:
        """Close the shard."""
        self.shard.close()


class VectorTable:
    """PostgreSQL with pgvector: `postgresql://…` with `table`, `column` (embedding), `id` (id); `hnsw.ef_search`,
    `ivfflat.probes` and its other settings in search.
    """

    connection: Any
    OPERATORS: Mapping[str, str] = {"cosine": "<=>", "ip": "<#>", "l2": "<->"}

    def __init__(self, wanted: Wanted) -> None:
        try:
            import psycopg
            from pgvector.psycopg import register_vector
        except ImportError:
            raise MissingExtraError("a PostgreSQL table with pgvector", "pgvector") from None
        from psycopg import sql

        self.sql = sql
        self.names = _names("pgvector", wanted, {"table": "", "column": "embedding", "id": "id"})
        try:
            self.connection = psycopg.connect(wanted.place, autocommit=True)
        except psycopg.Error as error:
            raise InputError(f"PostgreSQL: {first_line(error)}") from None
        try:
            register_vector(self.connection)
        except psycopg.Error:
            self.connection.close()
            raise InputError("PostgreSQL: the database lacks pgvector (CREATE EXTENSION vector)") from None
        self.operator, self.error = self.OPERATORS[wanted.metric], psycopg.Error
        self.identifiers = {name: sql.Identifier(*value.split(".")) for name, value in self.names.items()}
        try:
            for name, value in wanted.settings.items():
                if name not in self.names:
                    self.change(name, value)
            kind = self._type()
        except LeadlineError:
            self.connection.close()
            raise
        self.statements = {key: self._statement(key, kind) for key in (False, True)}

    def _type(self) -> str:
        """The type of the column: vector or halfvec, to which the query is brought.

        Raises
        ------
        InputError: no such table or column.
        """
        text = self.sql.SQL("SELECT pg_typeof({column})::text FROM {table} LIMIT 1").format(
            **self.identifiers
        )
        try:
            found = self.connection.execute(text).fetchone()
        except self.error as error:
            raise InputError(f"PostgreSQL: {first_line(error)}") from None
        if found is None:
            raise InputError(f"PostgreSQL: the table {printable(self.names['table'])} is empty")
        if found[0].rpartition(".")[2] not in ("vector", "halfvec"):
            raise InputError(
                f"PostgreSQL: the column {printable(self.names['column'])} is {found[0]}, no vector"
            )
        return str(found[0])

    def _statement(self, filtered: bool, kind: str) -> Any:
        where = "WHERE {id}::text = ANY(%(allowed)s)" if filtered else ""
        text = f"SELECT {{id}}::text FROM {{table}} {where} ORDER BY {{column}} {self.operator} %(query)s::{kind} LIMIT %(k)s"
        return self.sql.SQL(text).format(**self.identifiers)

    def facts(self) -> Facts:
        """Rows, dimensions and the metric of its index."""
        try:
            with self.connection.cursor() as cursor:
                counted = self.sql.SQL("SELECT count({column}) FROM {table}").format(**self.identifiers)
                rows = cursor.execute(counted).fetchone()[0]
                first = self.sql.SQL("SELECT vector_dims({column}) FROM {table} LIMIT 1").format(
                    **self.identifiers
                )
                size = cursor.execute(first).fetchone()
                classes = cursor.execute(
                    "SELECT o.opcname FROM pg_index i JOIN pg_opclass o ON o.oid = ANY(i.indclass) "
                    "JOIN pg_am a ON a.oid = o.opcmethod WHERE i.indrelid = %s::regclass AND a.amname IN ('hnsw', 'ivfflat')",
                    (self.identifiers["table"].as_string(self.connection),),
                ).fetchall()
        except self.error as error:
            raise InputError(f"PostgreSQL: {first_line(error)}") from None
        metrics = [name for (found,) in classes for name in self.OPERATORS if f"_{name}_" in found]
        return Facts(rows, size[0] if size else None, metrics[0] if len(set(metrics)) == 1 else None)

    def change(self, name: str, value: Setting) -> None:
        """Set one of pgvector's settings, such as `hnsw.ef_search`."""
        if not name.startswith(("hnsw.", "ivfflat.")):
            raise no_such_setting("pgvector", name, ["hnsw.ef_search", "ivfflat.probes", *self.names])
        try:
            self.connection.execute("SELECT set_config(%s, %s, false)", (name, str(value)))
        except self.error as error:
            raise UsageError(f"pgvector: {name}={value}: {first_line(error)}") from None

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Neighbours by the index, where PostgreSQL takes it."""
        return self._asked(query, k, allowed, prepare=True)

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """The same past the index."""
        with self.connection.transaction():
            self.connection.execute("SET LOCAL enable_indexscan = off")
            # Not the prepared statement: its plan was made before, with the index.
            return self._asked(query, k, allowed, prepare=False)

    def _asked(self, query: Any, k: int, allowed: Allowed, prepare: bool) -> Sequence[str]:
        values = {"query": query, "k": k, "allowed": list(allowed or [])}
        statement = self.statements[allowed is not None]
        return [one for (one,) in self.connection.execute(statement, values, prepare=prepare).fetchall()]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()
