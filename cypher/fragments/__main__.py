"""Write every copy of a fragment again, after the fragment was changed."""

import cypher
from cypher.fragments import rewrite

for file in sorted(cypher.HERE.rglob("*.cypher")):
    text = file.read_text()
    if (changed := rewrite(text)) != text:
        file.write_text(changed)
