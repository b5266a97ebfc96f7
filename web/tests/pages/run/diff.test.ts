import { describe, expect, it } from "vitest";
import { parseDiff } from "../../../src/pages/run/overview/diff";

const DIFF = `diff --git a/train.py b/train.py
index 83db48f..bf2a1c0 100644
--- a/train.py
+++ b/train.py
@@ -1,4 +1,3 @@ def main():
 import strobe
-lr = 0.1
+lr = 0.3
--- a line that begins with dashes
 end
\\ No newline at end of file
diff --git a/new file.txt b/new file.txt
new file mode 100644
index 0000000..ce01362
--- /dev/null
+++ b/new file.txt
@@ -0,0 +1 @@
+hello
diff --git a/old.py b/src/new.py
similarity index 100%
rename from old.py
rename to src/new.py
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
`;

describe("parseDiff", () => {
  const files = parseDiff(DIFF);
  it("tells the files and what became of each", () => {
    expect(files.map((file) => [file.path, file.change, file.added, file.removed])).toEqual([
      ["train.py", "changed", 1, 2],
      ["new file.txt", "added", 1, 0],
      ["src/new.py", "renamed", 0, 0],
      ["logo.png", "binary", 0, 0],
      ["gone.py", "deleted", 0, 2],
    ]);
    expect(files[2]?.from).toBe("old.py");
  });
  it("numbers the lines of both sides", () => {
    expect(files[0]?.lines.map((line) => [line.kind, line.before, line.after, line.text])).toEqual([
      ["hunk", null, null, "@@ -1,4 +1,3 @@ def main():"],
      ["same", 1, 1, "import strobe"],
      ["remove", 2, null, "lr = 0.1"],
      ["add", null, 2, "lr = 0.3"],
      ["remove", 3, null, "-- a line that begins with dashes"],
      ["same", 4, 3, "end"],
      ["note", null, null, "No newline at end of file"],
    ]);
  });
  it("takes a diff without git's headers, one that was cut, and nothing", () => {
    const [file] = parseDiff("--- a/x\t2026\n+++ b/x\t2026\n@@ -1 +1 @@\n-a\n+b\n");
    expect([file?.path, file?.added, file?.removed]).toEqual(["x", 1, 1]);
    const cut = parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n+b");
    expect(cut[0]?.added).toBe(1);
    expect(parseDiff("")).toEqual([]);
  });
});
