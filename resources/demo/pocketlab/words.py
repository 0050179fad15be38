"""Small questions about words and sentences."""


def count_words(sentence: str) -> int:
    """Return how many words a sentence has.

    Words are separated by blanks, one or several. A sentence of nothing but
    blanks has no words at all.
    """
    words = sentence.split()
    return len(words)


def first_word(sentence: str) -> str:
    """Return the word that a sentence begins with.

    Blanks before it do not count. A sentence has at least one word, else it
    is none, and asking for its first one is a mistake.
    """
    words = sentence.split()
    return words[0]


def initials(first: str, last: str) -> str:
    """Return the letters with which the two parts of a name begin.

    They come as capitals, whatever the name looks like, without a blank and
    without a full stop between them.
    """
    return first[0].upper() + last[0].upper()


def greeting(name: str) -> str:
    """Return the words that somebody of that name is met with.

    The name is used as it was given, with its capital letters and with the
    blanks in it.
    """
    return "Hello, " + name + "!"


def is_palindrome(word: str) -> bool:
    """Tell whether a word reads the same from both ends.

    Capital letters count as small ones. A word of a single letter always
    does, and so does one of no letter.
    """
    word = word.lower()
    return word == word[::-1]


def shout(sentence: str) -> str:
    """Return a sentence as somebody would shout it.

    Every letter becomes a capital one, and there is a mark at the end that
    shows how loud it was.
    """
    return sentence.upper() + "!"


def join_names(names: list[str]) -> str:
    """Return some names as one line of text.

    They stand in the order in which they were given, and something stands
    between one and the next. Of no names there comes an empty line.
    """
    return ", ".join(names)


def longest_word(sentence: str) -> str:
    """Return the longest of the words in a sentence.

    Of several that are equally long it is the one that comes first. There
    has to be at least one word.
    """
    return max(sentence.split(), key=len)
