"""Short texts."""


def count_vowels(text):
    return sum(1 for letter in text.lower() if letter in "aeiou")


def reverse_words(sentence):
    return " ".join(reversed(sentence.split()))


def initials(name):
    return "".join(part[0].upper() for part in name.split())


def is_palindrome(text):
    letters = text.lower().replace(" ", "")
    return letters == letters[::-1]
