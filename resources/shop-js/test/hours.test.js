import assert from "node:assert/strict";
import test from "node:test";

import * as hours from "../lib/hours.js";

test("minutes of a time", () => {
  assert.equal(hours.minutesOf("9:05"), 545);
});

test("open from the first minute to before the last", () => {
  assert.equal(hours.isOpen("9:00"), true);
  assert.equal(hours.isOpen("18:30"), false);
  assert.equal(hours.isOpen("8:59"), false);
  assert.equal(hours.isOpen("19:00", "9:00", "20:00"), true);
});

test("minutes that are left", () => {
  assert.equal(hours.minutesLeft("18:00"), 30);
  assert.equal(hours.minutesLeft("19:00"), 0);
});

test("times", () => {
  assert.equal(hours.clock(545), "9:05");
  assert.equal(hours.clock(1500), "1:00");
});
