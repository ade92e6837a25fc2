"""Search in each language: a reader's own word leads to the page; results are of that language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import keys
from browser.pages import SEARCH, in_languages, param

if TYPE_CHECKING:
    from browser.reader import Reader

# By page, what readers type to find it among the first results.
NAMES = {
    "conv2d": "conv2d K.conv2d Conv2D K.conv2d(x,kernel)",
    "ctc_batch_cost": "ctc_batch_cost batch_cost",
    "rnn": "rnn K.rnn",
    "placeholder": "placeholder",
    "gradients": "gradient gradients",
    "dropout": "dropout",
}
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "conv2d": "convolution convolutional Convolutions 2D",
        "conv2d_transpose": "deconvolution",
        "dropout": "dropout",
        "gradients": "gradient derivatives",
        "placeholder": "placeholders",
        "rnn": "recurrent recurrence lstm",
        "categorical_crossentropy": "loss losses crossentropy",
        "pool2d": "pooling",
    },
    "ko": {
        "conv2d": "합성곱 컨볼루션 convolution 2차원합성곱",
        "conv2d_transpose": "디컨볼루션",
        "dropout": "드롭아웃 dropout",
        "gradients": "그래디언트 기울기 gradient",
        "placeholder": "플레이스홀더",
        "rnn": "순환 recurrent",
        "categorical_crossentropy": "손실 손실함수 loss",
        "pool2d": "풀링",
    },
    "ja": {
        "conv2d": "畳み込み コンボリューション convolution 2次元畳み込み層",
        "conv2d_transpose": "逆畳み込み",
        "dropout": "ドロップアウト dropout",
        "gradients": "勾配 gradient",
        "placeholder": "プレースホルダー プレースホルダ",
        "rnn": "再帰 リカレント recurrent",
        "categorical_crossentropy": "損失 損失関数 loss",
        "pool2d": "プーリング",
    },
    "zh_CN": {
        "conv2d": "卷积 二维卷积 convolution",
        "conv2d_transpose": "转置卷积 反卷积",
        "dropout": "dropout 丢弃",
        "gradients": "梯度 gradient",
        "placeholder": "占位符",
        "rnn": "循环 循环神经网络 recurrent",
        "categorical_crossentropy": "损失 损失函数 loss",
        "pool2d": "池化",
    },
}
CASES = [
    param(language, word, page, nightly=language != "en")
    for language, pages in WORDS.items()
    for table in (NAMES, pages)
    for page, words in table.items()
    for word in words.split()
]


def results(reader: Reader) -> list[str]:
    return reader.links("#search li > a:first-child")


@pytest.mark.parametrize(("language", "word", "page"), CASES)
def test_a_word_leads_to_the_page(reader: Reader, language: str, word: str, page: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q={word}")
    found = reader.until(lambda: results(reader), f"nothing found for {word}")
    assert f"{language}/backend/functions/{page}.html" in found
    assert all(address.startswith(f"{language}/") for address in found)
    if word in NAMES.get(page, "").split() and "gradient" not in word and word != "batch_cost":
        assert found[0] == f"{language}/backend/functions/{page}.html"
    marked = reader.texts("#search mark")
    assert marked and all(marked)


# Queries of several words, and the page that comes first.
FIRST = {
    "en": {"2d convolution": "conv2d", "binary crossentropy": "binary_crossentropy"},
    "ko": {"2차원 합성곱": "conv2d"},
    "ja": {"2次元 畳み込み": "conv2d"},
    "zh_CN": {"二维 卷积": "conv2d"},
}


@pytest.mark.parametrize(
    ("language", "words", "page"),
    [
        param(language, words, page, nightly=language != "en")
        for language, queries in FIRST.items()
        for words, page in queries.items()
    ],
)
def test_the_best_page_comes_first(reader: Reader, language: str, words: str, page: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q={words}")
    found = reader.until(lambda: results(reader), f"nothing found for {words}")
    assert found[0] == f"{language}/backend/functions/{page}.html"


@in_languages()
def test_a_search_by_hand(reader: Reader, language: str) -> None:
    reader.open(f"{language}/index.html")
    reader.click(".sidebar-search")
    reader.press("ctc_decode", keys.ENTER)
    reader.until(lambda: reader.place == f"{language}/{SEARCH}.html?q=ctc_decode")
    first = reader.until(lambda: results(reader))[0]
    reader.click("#search li > a")
    reader.until(lambda: reader.place == first)
    assert reader.texts("h1")[0].startswith("ctc_decode")


@in_languages()
def test_nothing_found_is_said(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q=qqqqzzzz")
    said = reader.until(lambda: reader.texts("#search [role=status]")[0])
    assert results(reader) == [] and not any(letter.isdigit() for letter in said)
    assert reader.ask("document.querySelector('.search-all').checkVisibility()")
    reader.click("#search input")
    reader.press(keys.BACK * 8, "softmax")
    found = reader.until(lambda: results(reader))
    assert found[0] == f"{language}/backend/functions/softmax.html"
    assert reader.place == f"{language}/{SEARCH}.html?q=softmax"


@in_languages()
def test_more_results_come_when_asked_for(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q=gradient")
    assert len(reader.until(lambda: results(reader))) == 10
    reader.click("#search button")
    assert len(results(reader)) == 20
    assert reader.focus().startswith("a")


@in_languages()
def test_search_needs_no_server(reader: Reader, language: str) -> None:
    reader.open_file(f"{language}/{SEARCH}.html?q=conv2d")
    assert reader.until(lambda: reader.texts("#search li > a"))[0] == "conv2d"
    assert reader.complaints() == []
