const assert = require("node:assert/strict");
const test = require("node:test");
const figures = require("../tiny/figures.js");
const lists = require("../tiny/lists.js");
const words = require("../tiny/words.js");

test("rectangleArea", () => {
  assert.equal(figures.rectangleArea(3, 4), 12);
  assert.equal(figures.rectangleArea(0, 9), 0);
});

test("isEven", () => {
  assert.equal(figures.isEven(4), true);
  assert.equal(figures.isEven(7), false);
});

test("average", () => {
  assert.equal(figures.average([1, 2, 6]), 3);
  assert.equal(figures.average([5]), 5);
});

test("double", () => {
  assert.equal(figures.double(4), 8);
  assert.equal(figures.double(-3), -6);
});

test("absolute", () => {
  assert.equal(figures.absolute(-5), 5);
  assert.equal(figures.absolute(5), 5);
  assert.equal(figures.absolute(0), 0);
});

test("largest", () => {
  assert.equal(lists.largest([3, 9, 4]), 9);
  assert.equal(lists.largest([-3, -9]), -3);
});

test("lastItem", () => {
  assert.equal(lists.lastItem([1, 2, 3]), 3);
  assert.equal(lists.lastItem(["only"]), "only");
});

test("squares", () => {
  assert.deepEqual(lists.squares([1, -2, 3]), [1, 4, 9]);
  assert.deepEqual(lists.squares([]), []);
});

test("withoutNegatives", () => {
  assert.deepEqual(lists.withoutNegatives([1, -2, 0, -4]), [1, 0]);
  assert.deepEqual(lists.withoutNegatives([-1]), []);
});

test("firstLetter", () => {
  assert.equal(words.firstLetter("apple"), "a");
  assert.equal(words.firstLetter("Zoo"), "Z");
});

test("initials", () => {
  assert.equal(words.initials("ada lovelace"), "AL");
  assert.equal(words.initials("Grace Brewster Hopper"), "GBH");
});

test("longestWord", () => {
  assert.equal(words.longestWord(["a", "three", "of"]), "three");
  assert.equal(words.longestWord(["same", "size"]), "same");
});
