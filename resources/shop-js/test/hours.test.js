import assert from "node:assert/strict";
import test from "node:test";

import * as hours from "../lib/hours.js";

test("minutes of a time", () => {
  assert.equal(hours.minutesOf("9:05"), 545);
  assert.equal(hours.minutesOf("0:30"), 30);
});

test("open from the first minute to before the last", () => {
  assert.equal(hours.isOpen("9:00"), true);
  assert.equal(hours.isOpen("18:30"), false);
  assert.equal(hours.isOpen("8:59"), false);
  assert.equal(hours.isOpen("19:00", "9:00", "20:00"), true);
});

test("hours, minutes and seconds", () => {
  for (const count of [1, 2.5]) {
    assert.equal(hours.hoursToMinutes(count), count * 60);
    assert.equal(hours.minutesToHours(count * 60), count);
    assert.equal(hours.minutesToSeconds(count), count * 60);
  }
  assert.equal(hours.wholeHours(2.9), 2);
  assert.equal(hours.wholeHours(3), 3);
});

test("the later time", () => {
  assert.equal(hours.laterTime(545, 600), 600);
  assert.equal(hours.laterTime(610, 600), 610);
});
