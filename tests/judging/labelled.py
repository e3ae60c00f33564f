"""Made-up labels of people and of a model, as files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

Grades = Mapping[tuple[str, str], float]


def people(queries: int = 25, docs: int = 12) -> dict[tuple[str, str], float]:
    """Grades 0 0 1 2 again and again, the place moved on by one with every query."""
    return {
        (f"q{q:02d}", f"d{d:02d}"): float((0, 0, 1, 2)[(q + d) % 4])
        for q in range(queries)
        for d in range(docs)
    }


def relabelled(grades: Grades, change: Callable[[int, float], float]) -> dict[tuple[str, str], float]:
    """The same pairs with a grade made from the pair's place in the list and its grade."""
    return {pair: change(place, grade) for place, (pair, grade) in enumerate(grades.items())}


def often_right(grades: Grades, every: int = 5) -> dict[tuple[str, str], float]:
    """A judge that errs by one grade, now up and now down, on one pair in `every`."""

    def change(place: int, grade: float) -> float:
        if place % every:
            return grade
        up = grade == 0 or (grade == 1 and place % (2 * every) == 0)
        return grade + 1 if up else grade - 1

    return relabelled(grades, change)


def write(path: Path, rows: Iterable[tuple[tuple[str, str], float]]) -> str:
    """The labels as TREC qrels; returns the path as text."""
    path.write_text("".join(f"{query} 0 {doc} {grade:g}\n" for (query, doc), grade in rows))
    return str(path)
