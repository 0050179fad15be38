function firstLetter(word) {
  return word[0];
}

function initials(name) {
  return name.split(" ").map((part) => part[0].toUpperCase()).join("");
}

function longestWord(words) {
  return words.reduce((best, word) => (word.length > best.length ? word : best));
}

module.exports = { firstLetter, initials, longestWord };
