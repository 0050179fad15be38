// Opening hours, in minutes since midnight.

export function minutesOf(time) {
  const [hours, minutes] = time.split(":").map(Number);
  return hours * 60 + minutes;
}

export function isOpen(time, opens = "9:00", closes = "18:30") {
  const now = minutesOf(time);
  return now >= minutesOf(opens) && now < minutesOf(closes);
}

export function hoursToMinutes(hours) {
  const minutes = hours * 60;
  return minutes;
}

export function minutesToHours(minutes) {
  const hours = minutes / 60;
  return hours;
}

export function minutesToSeconds(minutes) {
  const seconds = minutes * 60;
  return seconds;
}

export function laterTime(first, second) {
  const later = Math.max(first, second);
  return later;
}

export function wholeHours(hours) {
  const whole = Math.floor(hours);
  return whole;
}
