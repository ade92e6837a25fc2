"""Search in each language: a reader's own word leads to the page, also a mistyped one; results are
of that language.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from browser import keys
from browser.pages import FUNCTION, SEARCH, in_languages, is_built, param
from docs.building import functions

if TYPE_CHECKING:
    from browser.reader import Reader

# By page, what readers type to find it among the first results.
NAMES = {
    "conv2d": "conv2d K.conv2d Conv2D K.conv2d(x,kernel)",
    "ctc_batch_cost": "ctc_batch_cost batch_cost",
    "rnn": "rnn K.rnn",
    "placeholder": "placeholder",
    "gradients": "gradient gradients",
    "softmax": "softmx sofmtax",
    "categorical_crossentropy": "categorical_crosentropy",
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
        "binary_crossentropy": "이진교차",
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
        "binary_crossentropy": "二値クロスエントロピー",
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
        "binary_crossentropy": "二元交叉熵",
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
    return reader.links("[role=option]")


@pytest.mark.parametrize(("language", "word", "page"), CASES)
def test_a_word_leads_to_the_page(reader: Reader, language: str, word: str, page: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q={word}")
    found = reader.until(lambda: results(reader), f"nothing found for {word}")
    assert f"{language}/backend/functions/{page}.html" in found[:10]
    assert all(address.startswith(f"{language}/") for address in found)
    if word in NAMES.get(page, "").split() and word not in ("gradient", "batch_cost"):
        assert found[0] == f"{language}/backend/functions/{page}.html"
        marked = reader.texts("[role=option] mark")
        assert marked and all(marked)


# Queries of several words, and the page that comes first.
FIRST = {
    "en": {
        "2d convolution": "conv2d",
        "binary crossentropy": "binary_crossentropy",
        "binary cross entropy": "binary_crossentropy",
    },
    "ko": {"2차원 합성곱": "conv2d", "이진 교차": "binary_crossentropy"},
    "ja": {"2次元 畳み込み": "conv2d", "二値 クロス": "binary_crossentropy"},
    "zh_CN": {"二维 卷积": "conv2d", "二元 交叉": "binary_crossentropy"},
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


# The places of functions among the results of many queries, which are typed one after the other.
PLACES = """(async () => {
    const input = document.querySelector(".search-box input"), found = [];
    history.replaceState = () => {};  // browsers limit how often an address changes
    for (const [query, page] of arguments[0]) {
        input.value = query;
        input.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done));
        const links = [...document.querySelectorAll("[role=option]")];
        found.push(links.findIndex((link) => link.href.endsWith(`/functions/${page}.html`)));
    }
    return found;
})()"""


def places(reader: Reader, language: str, queries: list[tuple[str, str]]) -> list[int]:
    reader.open(f"{language}/{SEARCH}.html?q=a")
    reader.until(lambda: results(reader))
    return reader.ask(PLACES, queries)  # type: ignore[no-any-return]


@in_languages()
def test_each_name_leads_to_its_page(reader: Reader, language: str) -> None:
    queries = [(name, name) for name in functions.names()]
    found = places(reader, language, queries)
    assert {name: place for (name, _), place in zip(queries, found, strict=True) if place} == {}


@in_languages()
def test_names_are_found_in_spite_of_typing_errors(reader: Reader, language: str) -> None:
    names = [name for name in functions.names() if len(name) > 5]
    draw = random.Random(7)
    queries = []
    for name in names:
        at = draw.randrange(1, len(name) - 1)
        for wrong in ("", name[at + 1] + name[at], "q"):  # left out, exchanged, another
            rest = name[at + 1 + (len(wrong) > 1) :]
            queries.append((name[:at] + wrong + rest, name))
    queries = [(query, name) for query, name in queries if query not in functions.names()]
    found = places(reader, language, queries)
    lost = [query for (query, _), place in zip(queries, found, strict=True) if not 0 <= place < 5]
    assert len(lost) <= len(queries) // 50, lost


@in_languages()
def test_a_search_by_hand(reader: Reader, language: str) -> None:
    reader.open(f"{language}/index.html")
    reader.click(".sidebar-search")
    reader.press("ctc_dec")
    first = reader.until(lambda: results(reader))[0]
    assert first == f"{language}/backend/functions/ctc_decode.html"
    assert reader.place == f"{language}/index.html"
    reader.click("[role=option]")
    reader.until(lambda: reader.place == first)
    assert reader.texts("h1")[0].startswith("ctc_decode")


@in_languages()
def test_nothing_found_is_said(reader: Reader, language: str) -> None:
    reader.open(f"{language}/{SEARCH}.html?q=qqqqzzzz")
    said = reader.until(lambda: reader.texts("[role=status]")[0])
    assert results(reader) == [] and not any(letter.isdigit() for letter in said)
    assert reader.ask("document.querySelector('.search-all').checkVisibility()")
    reader.click(".search-box input")
    reader.press(keys.BACK * 8, "softmax")
    found = reader.until(lambda: results(reader))
    assert found[0] == f"{language}/backend/functions/softmax.html"
    assert reader.place == f"{language}/{SEARCH}.html?q=softmax"


@in_languages("page", rows=[(SEARCH,), ("index",), (FUNCTION,)], few=3)
def test_search_needs_no_server(reader: Reader, language: str, page: str) -> None:
    reader.open_file(f"{language}/{page}.html")
    reader.press("/")
    reader.until(lambda: reader.focus().startswith("input"))
    reader.press("conv2d")
    reader.until(lambda: reader.texts("[role=option] b")[:1] == ["conv2d"])
    reader.press(keys.ENTER)
    reader.until(lambda: reader.place.endswith(f"/{language}/{FUNCTION}.html"))
    assert reader.complaints() == []


@in_languages("address", rows=[("backend/functions/conv2dd.html",), ("no/conv2d/",)], few=2)
def test_a_lost_address_leads_to_a_search(reader: Reader, language: str, address: str) -> None:
    reader.open(f"{language}/{address}")
    word = address.strip("/").rpartition("/")[2].removesuffix(".html")
    reader.until(lambda: reader.place == f"{language}/404.html?q={word}", "no page for it")
    found = reader.until(lambda: results(reader))
    assert found[0] == f"{language}/{FUNCTION}.html"
    assert reader.complaints()[1:] == []  # the console tells of the status, 404


def test_a_lost_address_without_a_language(reader: Reader) -> None:
    reader.speak("ko-KR" if is_built("ko") else "en")
    reader.open("layers/core/")
    language = "ko" if is_built("ko") else "en"
    reader.until(lambda: reader.place == f"{language}/404.html?q=core")


def test_a_lost_address_in_a_language_that_is_not_there(reader: Reader) -> None:
    language = "ja" if is_built("ja") else "en"
    reader.open("ja/layers/core/")
    reader.until(lambda: reader.place == f"{language}/404.html?q=core")


@pytest.mark.parametrize(("page", "word"), [("names", "conv2d"), ("tensorflow", "MaxPool")])
def test_tables_are_filtered(reader: Reader, page: str, word: str) -> None:
    reader.open(f"en/{page}.html")
    rows = "[...document.querySelectorAll('article tbody tr')].filter(x => x.checkVisibility())"
    every = reader.ask(f"{rows}.length")
    reader.click(".filter")
    reader.press(word)
    shown = reader.ask(f"{rows}.map(x => x.textContent)")
    assert 0 < len(shown) < every / 5 and all(word in row for row in shown)
    heads = "[...document.querySelectorAll('article h2')].filter(x => x.checkVisibility()).length"
    assert reader.ask(heads) < 5
    assert reader.texts(".filter + [role=status]") == [f"Rows: {len(shown)}"]
    reader.press(keys.BACK * len(word))
    assert reader.ask(f"{rows}.length") == every
