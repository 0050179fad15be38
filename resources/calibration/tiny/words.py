"""Words and short texts."""


def first_letter(word):
    return word[0]


def initials(name):
    return "".join(part[0].upper() for part in name.split())


def longest_word(words):
    return max(words, key=len)
