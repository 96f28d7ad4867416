// The types of a link between memories, but for PRECEDES, which says only what was said next.

RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|CAUSALLY_LINKED
