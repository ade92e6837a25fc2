"""`tf.contrib.learn.preprocessing`: texts as rows of numbers of their words."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ... import files

# A run of capitals, a capitalised word before another one, or letters with ' and -.
CAPITALS, CAPITALISED, LETTERS = r"[A-Z]{2,}(?![a-z])", r"[A-Z][a-z]+(?=[A-Z])", r"['\w-]+"
WORD = re.compile("|".join((CAPITALS, CAPITALISED, LETTERS)))


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text.

    >>> list(tokenizer(["it 's a co-op."]))
    [['it', "'s", 'a', 'co-op']]
    """
    return (WORD.findall(text) for text in iterator)


class CategoricalVocabulary:
    """Numbers of words: 0 stands for those that aren't known."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._numbers = {unknown_token: 0}
        self._words = [unknown_token]
        self._counts: dict[str, int] = {}
        self._frozen = False

    def __len__(self) -> int:
        return len(self._numbers)

    def freeze(self, freeze: bool = True) -> None:
        """Whether new words get no numbers."""
        self._frozen = freeze

    def get(self, category: str) -> int:
        """The number of a word; a new word gets one, unless that's over."""
        if category not in self._numbers and not self._frozen:
            self._numbers[category] = len(self._words)
            self._words.append(category)
        return self._numbers.get(category, 0)

    def add(self, category: str, count: int = 1) -> None:
        """Count a word."""
        if self.get(category) > 0:
            self._counts[category] = self._counts.get(category, 0) + count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep the words that were counted more often, but not too often; numbered by that."""
        ordered = sorted(sorted(self._counts.items()), key=lambda row: row[1], reverse=True)
        kept = [w for w, n in ordered
                if n > min_frequency and (max_frequency < 0 or n < max_frequency)]  # fmt: skip
        self._counts = {w: n for w, n in ordered if w in kept}
        self._words = [self._words[0], *kept]
        self._numbers = {w: i for i, w in enumerate(self._words)}

    def reverse(self, class_id: int) -> str:
        """The word of a number."""
        return self._words[class_id]

    @property
    def _mapping(self) -> dict[str, int]:  # what programs read of it
        return self._numbers


class VocabularyProcessor:
    """Makes rows of numbers of texts, padded with 0.

    >>> processor = VocabularyProcessor(4)
    >>> [row.tolist() for row in processor.fit_transform(["one two one", "two three"])]
    [[1, 2, 1, 0], [2, 3, 0, 0]]
    """

    def __init__(
        self, max_document_length: int, min_frequency: int = 0, vocabulary: Any = None,
        tokenizer_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = CategoricalVocabulary() if vocabulary is None else vocabulary
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Number the words of texts; afterwards new words are unknown."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Any, unused_y: Any = None) -> Iterator[Any]:
        """`fit`, then `transform`."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """The row of each text."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, word in enumerate(words[: self.max_document_length]):
                row[i] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """The text of each row."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Write it by pickle."""
        files.replace(filename, pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Read what `save` wrote. As pickle runs what a file says, the file must be one's own."""
        with open(filename, "rb") as file:
            found: VocabularyProcessor = pickle.load(file)
        return found


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    "contrib.learn.preprocessing.VocabularyProcessor": VocabularyProcessor,
    "contrib.learn.preprocessing.CategoricalVocabulary": CategoricalVocabulary,
    "contrib.learn.preprocessing.tokenizer": tokenizer,
}
