import assert from "node:assert/strict";
import test from "node:test";

import * as customers from "../lib/customers.js";

test("full names and initials", () => {
  assert.equal(customers.fullName("Ada", "Byron"), "Ada Byron");
  assert.equal(customers.fullName("Bob", "Ross"), "Bob Ross");
  assert.equal(customers.initials("Ada", "Byron"), "AB");
  assert.equal(customers.initials("Bob", "Ross"), "BR");
});

test("a greeting", () => {
  assert.equal(customers.greeting("Ada"), "Hello, Ada!");
  assert.equal(customers.greeting("Bob"), "Hello, Bob!");
});

test("names in a line and in order", () => {
  const names = ["Bob", "Ada"];
  assert.equal(customers.nameLine(names), "Bob, Ada");
  assert.deepEqual(customers.sortedNames(names), ["Ada", "Bob"]);
  assert.deepEqual(customers.sortedNames(["Bob", "Ada", "Eve"]), ["Ada", "Bob", "Eve"]);
  assert.deepEqual(customers.reversedNames(names), ["Ada", "Bob"]);
  assert.deepEqual(customers.reversedNames(["Ada", "Bob"]), ["Bob", "Ada"]);
  assert.deepEqual(names, ["Bob", "Ada"]);
});

test("how many there are, the first and the last", () => {
  const names = ["Bob", "Ada", "Eve"];
  assert.equal(customers.numberOfCustomers(names), 3);
  assert.equal(customers.numberOfCustomers([]), 0);
  assert.equal(customers.firstCustomer(names), "Bob");
  assert.equal(customers.lastCustomer(names), "Eve");
  assert.equal(customers.firstCustomer(["Ada"]), customers.lastCustomer(["Ada"]));
  assert.equal(customers.hasNoCustomers(names), false);
  assert.equal(customers.hasNoCustomers([]), true);
});

test("capitals and small letters", () => {
  assert.equal(customers.nameInCapitals("Ada"), "ADA");
  assert.equal(customers.nameInCapitals("Bob"), "BOB");
  assert.equal(customers.nameInSmallLetters("Ada"), "ada");
  assert.equal(customers.nameInSmallLetters("Bob"), "bob");
});

test("the words and the length of a name", () => {
  assert.equal(customers.lengthOfName("Ada"), 3);
  assert.equal(customers.lengthOfName(""), 0);
  assert.deepEqual(customers.wordsOfName("Bob"), ["Bob"]);
  assert.deepEqual(customers.wordsOfName("Ada Byron Lovelace"), ["Ada", "Byron", "Lovelace"]);
});

test("who is a customer", () => {
  assert.equal(customers.isCustomer(["Ada"], "Ada"), true);
  assert.equal(customers.isCustomer(["Ada"], "Bob"), false);
});
