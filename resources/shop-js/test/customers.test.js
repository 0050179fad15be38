import assert from "node:assert/strict";
import test from "node:test";

import * as customers from "../lib/customers.js";

test("full names and initials", () => {
  assert.equal(customers.fullName("Ada", "Byron"), "Ada Byron");
  assert.equal(customers.initials("Ada", "Byron"), "AB");
});

test("a greeting", () => {
  assert.equal(customers.greeting("Ada"), "Hello, Ada!");
});

test("names in a line, in order, and their number", () => {
  const names = ["Bob", "Ada"];
  assert.equal(customers.nameLine(names), "Bob, Ada");
  assert.deepEqual(customers.sortedNames(names), ["Ada", "Bob"]);
  assert.deepEqual(names, ["Bob", "Ada"]);
  assert.equal(customers.numberOfCustomers(names), 2);
});

test("capitals and small letters", () => {
  assert.equal(customers.nameInCapitals("Ada"), "ADA");
  assert.equal(customers.nameInSmallLetters("Ada"), "ada");
});

test("the words of a name", () => {
  assert.deepEqual(customers.wordsOfName("Ada Byron Lovelace"), ["Ada", "Byron", "Lovelace"]);
});

test("who is a customer", () => {
  assert.equal(customers.isCustomer(["Ada"], "Ada"), true);
  assert.equal(customers.isCustomer(["Ada"], "Bob"), false);
});
