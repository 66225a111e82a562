// Class names as loggers shorten them. The report has the same rule (`class` in crates/analyze/src/report/table.rs); both
// are tested on the same names (crates/analyze/tests/data/abbreviated.json).

/** A class's name, or its method's, in at most `width` characters: packages become their first letter from the left on, as few as needed.
    Only a name that is too long even so is cut, at its front. */
export function abbreviate(name: string, width: number): string {
  const parts = name.split(".").map((part) => [...part]);
  const length = () => parts.reduce((sum, part) => sum + part.length, parts.length - 1);
  const isClass = (part: string[]) => /^\p{Lu}/u.test(part[0] ?? "");
  for (let i = 0; i < parts.length - 1 && length() > width && !isClass(parts[i]!); i++) parts[i] = parts[i]!.slice(0, 1);
  const short = [...parts.map((part) => part.join("")).join(".")];
  return short.length <= width ? short.join("") : `…${short.slice(short.length + 1 - width).join("")}`;
}
