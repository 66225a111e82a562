-- From the outermost frame inwards: each has the code of its caller, if it is the JDK's or native, else its own. In
-- parentheses is what stands for frames that could not be seen.
CREATE VIEW stack_code AS
WITH RECURSIVE
    frames AS (
        SELECT id, parent, kind = 'java' OR starts_with(name, '(') AS is_java,
               is_java AND NOT regexp_matches(name, '^(java|javax|jdk|sun|com\.sun)\.') AS is_own
        FROM stacks),
    code AS (
        SELECT id, if(is_own, id, NULL) AS own, if(is_java, id, NULL) AS java FROM frames WHERE parent IS NULL
        UNION ALL
        SELECT f.id, if(f.is_own, f.id, o.own), if(f.is_java, f.id, o.java) FROM frames f JOIN code o ON f.parent = o.id)
SELECT o.id AS stack, c.name AS code, c.file, c.line
FROM code o JOIN stacks c ON c.id = coalesce(o.own, o.java, o.id)
