"""Sizes as formulas of other sizes, in a normal form: where formulas are equal, sizes are.

A `Root` is a number, an atom, or a `Form`: a sum of products of atoms. An atom stands for one
unknown number: the size of an axis, as (what has it, axis), which isn't negative; or any other
hashable; or what a function gives for roots (`Applied`).

Divisions that leave no rest are exact, as those of a reshape that infers a size: it fails where
there is a rest, or where it would divide by 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import islice
from typing import Any

Root = Any
# A product of atoms, each with its power.
Product = frozenset[tuple[Any, int]]
Terms = dict[Product, Fraction]

NO_ATOM: Product = frozenset()
# Longer sums aren't multiplied out.
LONGEST = 32


@dataclass(frozen=True, slots=True)
class Applied:
    """What a function gives for some roots; in a frozenset, where their order doesn't matter."""

    name: str
    operands: tuple[Root, ...] | frozenset[Root]


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of products of atoms, each with its factor."""

    terms: frozenset[tuple[Product, Fraction]]


def _terms(root: Root) -> Terms:
    if isinstance(root, Form):
        return dict(root.terms)
    if isinstance(root, int | Fraction):
        return {NO_ATOM: Fraction(root)} if root else {}
    return {frozenset(((root, 1),)): Fraction(1)}


def _root(terms: Terms) -> Root:
    """Terms in normal form."""
    found = {atoms: factor for atoms, factor in terms.items() if factor}
    if not found:
        return 0
    if len(found) == 1:
        [(atoms, factor)] = found.items()
        if not atoms:
            return int(factor) if factor.denominator == 1 else factor
        if factor == 1 and len(atoms) == 1:
            [(atom, power)] = atoms
            if power == 1:
                return atom
    return Form(frozenset(found.items()))


def plus(*roots: Root) -> Root:
    """The sum of roots."""
    total: Terms = {}
    for root in roots:
        for atoms, factor in _terms(root).items():
            total[atoms] = total.get(atoms, Fraction(0)) + factor
    return _root(total)


def minus(a: Root, b: Root) -> Root:
    """a - b"""
    return plus(a, times(-1, b))


def times(a: Root, b: Root) -> Root:
    """a * b"""
    first, second = _terms(a), _terms(b)
    if len(first) * len(second) > LONGEST:
        return Applied("times", frozenset((a, b)))
    total: Terms = {}
    for atoms, factor in first.items():
        for others, other in second.items():
            product = _product(atoms, others)
            total[product] = total.get(product, Fraction(0)) + factor * other
    return _root(total)


def _product(a: Product, b: Product, sign: int = 1) -> Product:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + sign * power
    return frozenset((atom, power) for atom, power in powers.items() if power)


def quotient(a: Root, b: Root) -> Root:
    """a / b, which leaves no rest."""
    top, bottom = _terms(a), _terms(b)
    found: Terms = {}
    if len(bottom) == 1:
        [(atoms, factor)] = bottom.items()
        return _root({_product(x, atoms, -1): f / factor for x, f in top.items()})
    size = _order(top, bottom)
    while top and bottom and size is not None:
        (first, factor), (atoms, divisor) = (max(t.items(), key=size) for t in (top, bottom))
        part = _product(first, atoms, -1)
        if any(power < 0 for _, power in part) or len(found) > LONGEST:
            break
        found[part] = factor / divisor
        rest = minus(_root(top), times(_root({part: found[part]}), b))
        top = _terms(rest)
    return Applied("quotient", (a, b)) if top or not bottom else _root(found)


def _order(*terms: Terms) -> Callable[[tuple[Product, Fraction]], tuple[int, ...]] | None:
    """What sorts products, by the powers of one atom after the other; None, where some power is
    negative."""
    products = [atoms for each in terms for atoms in each]
    if any(power < 0 for atoms in products for _, power in atoms):
        return None
    known = list(dict.fromkeys(atom for atoms in products for atom, _ in atoms))

    def key(term: tuple[Product, Fraction]) -> tuple[int, ...]:
        powers = dict(term[0])
        return tuple(powers.get(atom, 0) for atom in known)

    return key


def floor_div(a: Root, b: Root) -> Root:
    """a / b, rounded down."""
    if not isinstance(b, int) or b < 1:
        return Applied("floor_div", (a, b))
    whole: Terms = {}
    rest: Terms = {}
    for atoms, factor in _terms(a).items():
        is_whole = factor.denominator == 1 and all(power > 0 for _, power in atoms)
        through = factor // b if is_whole or not atoms else 0
        whole[atoms], rest[atoms] = Fraction(through), factor - through * b
    left = _root(rest)
    if isinstance(left, int | Fraction):  # less than b
        return _root(whole)
    if isinstance(left, Applied) and left.name == "floor_div":
        inner, by = left.operands
        if isinstance(by, int):
            left, b = inner, by * b
    return plus(_root(whole), Applied("floor_div", (left, b)))


def most(*roots: Root) -> Root:
    """The largest one."""
    return reduce(partial(_extremum, "most", max), roots)


def least(*roots: Root) -> Root:
    """The smallest one."""
    return reduce(partial(_extremum, "least", min), roots)


def _extremum(name: str, better: Callable[[int, int], int], a: Root, b: Root) -> Root:
    if bound(minus(a, b)) >= 0:
        return a if name == "most" else b
    if bound(minus(b, a)) >= 0:
        return b if name == "most" else a
    for one, other in ((a, b), (b, a)):
        inner, added = _added(one)
        if isinstance(other, int) and isinstance(inner, Applied) and inner.name == name:
            limits = [x for x in inner.operands if isinstance(x, int)]
            if limits:
                rest = (plus(x, added) for x in inner.operands if not isinstance(x, int))
                return FUNCTIONS[name](better(limits[0] + added, other), *rest)
    return Applied(name, frozenset((a, b)))


def _added(root: Root) -> tuple[Root, int]:
    """A root as another one and a whole number that is added."""
    number = _terms(root).get(NO_ATOM, Fraction(0))
    return (minus(root, int(number)), int(number)) if number.denominator == 1 else (root, 0)


def common(*roots: Root) -> Root:
    """The size to which axes of several sizes are stretched: the one that isn't 1."""
    others = frozenset[Root]().union(*map(parts, roots)) - {1}
    known = [x for x in others if isinstance(x, int)]
    if known or len(others) < 2:
        return next(iter(known or others), 1)
    return Applied("common", others)


def parts(root: Root) -> frozenset[Root]:
    """The sizes of which a root is the common one."""
    if isinstance(root, Applied) and root.name == "common":
        return frozenset(root.operands)
    return frozenset((root,))


def negative(a: Root) -> Root:
    """Whether a root is less than 0, as 1 or 0."""
    if isinstance(a, int | Fraction):
        return int(a < 0)
    return 0 if bound(a) >= 0 else 1 if bound(minus(-1, a)) >= 0 else Applied("negative", (a,))


def either(which: Root, a: Root, b: Root) -> Root:
    """`b`, where `which` is 0, else `a`."""
    if a == b:
        return a
    if isinstance(which, int):
        return a if which else b
    return Applied("either", (which, a, b))


# By name of what is `Applied`: the function.
FUNCTIONS: Mapping[str, Callable[..., Root]] = {
    "times": lambda *roots: reduce(times, roots),
    "quotient": quotient,
    "floor_div": floor_div,
    "most": most,
    "least": least,
    "common": common,
    "negative": negative,
    "either": either,
}


def bound(root: Root) -> float:
    """A number that isn't larger than a root."""
    return sum(_term_bound(atoms, factor) for atoms, factor in _terms(root).items())


def _term_bound(atoms: Product, factor: Fraction) -> float:
    if not atoms:
        return float(factor)
    bounds = [_atom_bound(atom) for atom, _ in atoms]
    if factor < 0 or min(bounds) < 0:
        return -math.inf
    powers = [power for _, power in atoms]
    return float(factor) * math.prod(map(pow, bounds, powers)) if min(powers) > 0 else 0.0


def _atom_bound(atom: Any) -> float:
    if not isinstance(atom, Applied):
        return 0.0 if isinstance(atom, tuple) else -math.inf
    bounds = [bound(x) for x in atom.operands]
    if atom.name == "most":
        return max(bounds)
    if atom.name in ("least", "common"):
        return min(bounds)
    if atom.name == "either":
        return min(bounds[1:])
    if atom.name == "negative":
        return 0.0
    return 0.0 if min(bounds) >= 0 and atom.name in FUNCTIONS else -math.inf


def substituted(
    root: Root, of_atom: Callable[[Any], Root], of_whole: Callable[[Any], Root] = lambda root: root
) -> Root:
    """A root with other roots in place of its atoms; `of_whole` sees what formulas are left."""
    if isinstance(root, int | Fraction):
        return root
    if isinstance(root, Applied):
        function = FUNCTIONS.get(root.name)
        if function is not None:
            root = function(*(substituted(x, of_atom, of_whole) for x in root.operands))
        return of_whole(root) if isinstance(root, Applied) else root
    if not isinstance(root, Form):
        return of_atom(root)
    total: list[Root] = []
    for atoms, factor in root.terms:
        term: Root = _root({NO_ATOM: factor})
        for atom, power in atoms:
            new = substituted(atom, of_atom, of_whole)
            for _ in range(abs(power)):
                term = times(term, new) if power > 0 else quotient(term, new)
        total.append(term)
    whole = plus(*total)
    return of_whole(whole) if isinstance(whole, Form) else whole


def is_long(root: Root) -> bool:
    """Whether a formula has so many atoms, or so high a power, that it had better not grow."""
    return any(islice(atoms_of(root), LONGEST, None)) or any(
        power > LONGEST for power in _powers_of(root)
    )


def _powers_of(root: Root) -> Iterator[int]:
    if isinstance(root, Form):
        for atoms, _ in root.terms:
            for atom, power in atoms:
                yield abs(power)
                yield from _powers_of(atom)
    elif isinstance(root, Applied) and root.name in FUNCTIONS:
        for x in root.operands:
            yield from _powers_of(x)


def atoms_of(root: Root) -> Iterator[Any]:
    """The atoms of a root, those inside of functions among them."""
    if isinstance(root, Form):
        for atoms, _ in root.terms:
            for atom, _ in atoms:
                yield from atoms_of(atom)
    elif not isinstance(root, int | Fraction):
        yield root
        if isinstance(root, Applied) and root.name in FUNCTIONS:
            for x in root.operands:
                yield from atoms_of(x)


def is_of_sizes(root: Root) -> bool:
    """Whether all atoms of a root are sizes of axes."""
    return all(
        x.name in FUNCTIONS if isinstance(x, Applied) else isinstance(x, tuple)
        for x in atoms_of(root)
    )


# By name of a function: its text, given those of its operands.
TEXTS = {
    "times": "({} * {})",
    "floor_div": "({} // {})",
    "most": "max({}, {})",
    "least": "min({}, {})",
    "negative": "({} < 0)",
    "either": "({1} if {0} else {2})",
}


def is_counted(root: Root) -> bool:
    """Whether a root has a value for all values of its atoms: see `text`."""
    if isinstance(root, Applied):
        by = tuple(root.operands)[-1]
        known = root.name in TEXTS and (
            root.name != "floor_div" or (isinstance(by, int) and by > 0)
        )
        return known and all(map(is_counted, root.operands))
    if isinstance(root, Form):
        factors = [factor for atoms, _ in root.terms for factor in atoms]
        return all(power > 0 and is_counted(atom) for atom, power in factors)
    return not isinstance(root, Fraction)


def text(root: Root, of_atom: Callable[[Any], str]) -> str:
    """A root that `is_counted` as Python's text, which may name `max` and `min`."""
    if isinstance(root, Applied):
        operands = [text(x, of_atom) for x in root.operands]
        # Of a set, whose operands may be more than two, in any order.
        while isinstance(root.operands, frozenset) and len(operands) > 2:
            operands.append(TEXTS[root.name].format(operands.pop(), operands.pop()))
        return TEXTS[root.name].format(*operands)
    if not isinstance(root, Form):
        return repr(root) if isinstance(root, int) else of_atom(root)
    whole = math.lcm(*(factor.denominator for _, factor in root.terms))
    terms = []
    for atoms, factor in root.terms:
        powers = (text(atom, of_atom) for atom, power in atoms for _ in range(power))
        terms.append(" * ".join((repr(int(factor * whole)), *powers)))
    return f"(({' + '.join(sorted(terms))}) // {whole})" if whole > 1 else f"({' + '.join(terms)})"


def solved(a: Root, b: Root) -> tuple[Root, Root]:
    """Of two equal roots: an atom (if there's none alone in a term, the first root), and what it's
    equal to, where it doesn't occur."""
    apart = minus(a, b)
    counts = Counter(atoms_of(apart))
    for atoms, factor in sorted(_terms(apart).items(), key=lambda term: len(term[0])):
        [(atom, power), *more] = atoms or [(None, 0)]
        if power == 1 and not more and counts[atom] == 1:
            return atom, quotient(minus(_root({atoms: factor}), apart), _root({NO_ATOM: factor}))
    return a, b
