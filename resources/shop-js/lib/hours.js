// Opening hours, in minutes since midnight.

export function minutesOf(time) {
  const [hours, minutes] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

export function isOpen(time, opens = "9:00", closes = "18:30") {
  const now = minutesOf(time);
  return now >= minutesOf(opens) && now < minutesOf(closes);
}

export function minutesLeft(time, closes = "18:30") {
  const left = minutesOf(closes) - minutesOf(time);
  return Math.max(0, left);
}

export function clock(minutes) {
  const hours = Math.floor(minutes / 60) % 24;
  const rest = String(minutes % 60).padStart(2, "0");
  return `${hours}:${rest}`;
}
