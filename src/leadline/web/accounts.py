"""Accounts of a team: named assessors and leads, invitation links that work once, and the secret of the sessions."""

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from leadline.errors import UsageError, printable
from leadline.judging.book import Book
from leadline.web.refusal import Refusal, unknown

ROLES = ("assessor", "lead")
VALID = 7 * 24 * 3600.0
"""Seconds that an invitation is good for."""
LONGEST_NAME = 64


@dataclass(frozen=True)
class Account:
    """A name that may judge. Sessions carry the epoch; a new epoch ends them all."""

    name: str
    role: str
    created: float
    epoch: int
    active: bool


@dataclass(frozen=True)
class Invitation:
    """A link that lets one person in under a name, once. Only the hash of its token is kept."""

    token: str
    name: str
    role: str
    expires: float


def checked_name(name: str) -> str:
    """The name without outer white space.

    Raises
    ------
    UsageError: empty, too long, or with characters that cannot be seen.

    >>> checked_name(" ana ")
    'ana'
    """
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"a name has from 1 to {LONGEST_NAME} visible characters; {printable(name[:80])!r} has not"
        )
    return name


class Accounts:
    """The accounts of a book's server. What changes them runs in the writer's thread, in its transaction."""

    def __init__(self, book: Book) -> None:
        self._book = book
        with book.engine.connect() as connection:
            self._all = self._read(connection)

    def find(self, name: str) -> tuple[str, int] | None:
        """The role and the epoch of an active account."""
        account = self._all.get(name)
        return (account.role, account.epoch) if account is not None and account.active else None

    def everyone(self) -> list[Account]:
        """Every account, by name."""
        return sorted(self._all.values(), key=lambda one: one.name)

    def has_lead(self) -> bool:
        """Whether anybody may lead."""
        return any(one.active and one.role == "lead" for one in self._all.values())

    def invite(self, connection: Connection, name: str, role: str, valid: float = VALID) -> Invitation:
        """A new link for a name.

        Raises
        ------
        UsageError: a name or a role that cannot be. Refusal: the name has another role already.
        """
        name = checked_name(name)
        if role not in ROLES:
            raise UsageError(f"role {printable(role)!r} is not one of {', '.join(ROLES)}")
        account = self._all.get(name)
        if account is not None and account.active and account.role != role:
            raise Refusal(409, "role", f"{name} is {account.role} already; end that account first")
        made = Invitation(secrets.token_urlsafe(24), name, role, time.time() + valid)
        connection.execute(
            text(
                "INSERT INTO invitations (token_hash, name, role, expires, used) "
                "VALUES (:hash, :name, :role, :expires, NULL)"
            ),
            {"hash": _hash(made.token), "name": name, "role": role, "expires": made.expires},
        )
        return made

    def redeem(self, connection: Connection, token: str) -> Account:
        """Let in who holds a link, and use it up.

        Raises
        ------
        Refusal: there is no such link, it was used, or it has expired.
        """
        now = time.time()
        found = (
            connection.execute(
                text(
                    "SELECT name, role FROM invitations WHERE token_hash = :hash AND used IS NULL AND expires > :now"
                ),
                {"hash": _hash(token), "now": now},
            )
            .mappings()
            .first()
        )
        if found is None:
            raise unknown("invitation: it was used, it has expired, or the address is not whole")
        connection.execute(
            text("UPDATE invitations SET used = :now WHERE token_hash = :hash"),
            {"hash": _hash(token), "now": now},
        )
        known = self._all.get(found["name"])
        account = Account(
            found["name"],
            found["role"],
            known.created if known else now,
            (known.epoch + (not known.active)) if known else 1,
            True,
        )
        self._store(connection, account)
        return account

    def revoke(self, connection: Connection, name: str) -> Account:
        """End every session and every open link of a name; what it judged stays.

        Raises
        ------
        Refusal: no such account and no such link.
        """
        found = connection.execute(
            text("UPDATE invitations SET used = :now WHERE name = :name AND used IS NULL"),
            {"now": time.time(), "name": name},
        )
        known = self._all.get(name)
        if known is None and not found.rowcount:
            raise unknown("account")
        if known is None:
            return Account(name, "assessor", time.time(), 0, False)
        closed = Account(known.name, known.role, known.created, known.epoch + 1, False)
        self._store(connection, closed)
        return closed

    def open_invitations(self, connection: Connection) -> list[dict[str, Any]]:
        """Links that were not used and have not expired: name, role, expires."""
        rows = connection.execute(
            text(
                "SELECT name, role, expires FROM invitations WHERE used IS NULL AND expires > :now ORDER BY expires"
            ),
            {"now": time.time()},
        )
        return [dict(row) for row in rows.mappings()]

    def _store(self, connection: Connection, account: Account) -> None:
        connection.execute(
            text(
                "INSERT INTO accounts (name, role, created, epoch, active) "
                "VALUES (:name, :role, :created, :epoch, :active) ON CONFLICT (name) DO UPDATE SET "
                "role = excluded.role, epoch = excluded.epoch, active = excluded.active"
            ),
            vars(account),
        )
        self._all[account.name] = account

    @staticmethod
    def _read(connection: Connection) -> dict[str, Account]:
        rows = connection.execute(text("SELECT name, role, created, epoch, active FROM accounts"))
        return {
            row["name"]: Account(**(dict(row) | {"active": bool(row["active"])})) for row in rows.mappings()
        }


def secret_of(book: Book) -> str:
    """The secret that signs sessions; made with the book's first server, and kept so that a restart ends no session."""
    with book.writing() as connection:
        found = connection.execute(text("SELECT value FROM web_secrets WHERE name = 'sessions'")).scalar()
        if found is None:
            found = secrets.token_urlsafe(32)
            connection.execute(
                text("INSERT INTO web_secrets (name, value) VALUES ('sessions', :value)"), {"value": found}
            )
        return str(found)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
