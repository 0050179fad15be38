from pocketlab import words


def test_count_words():
    assert [words.count_words(text) for text in ("", "one", " to  be or")] == [0, 1, 3]


def test_parts():
    assert [words.first_word("to be"), words.first_word("  or not")] == ["to", "or"]
    assert [words.initials("ada", "lovelace"), words.initials("Alan", "Turing")] == ["AL", "AT"]
    assert words.longest_word("an old garden") == "garden"


def test_sentences():
    assert words.greeting("Ann") == "Hello, Ann!"
    assert words.shout("come here") == "COME HERE!"
    assert [words.join_names(names) for names in ([], ["Ann"], ["Ann", "Ben"])] == ["", "Ann", "Ann, Ben"]


def test_is_palindrome():
    assert [words.is_palindrome(word) for word in ("Anna", "level", "", "word")] == [True, True, True, False]
