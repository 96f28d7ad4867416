"""Scripts that the default encoder was taught nothing of: its vectors decide nothing there."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from engine.embedding import open_embedder
from engine.memory.models import LinkType
from engine.models import MemoryType
from engine.settings import Settings
from engine.store.graph import Graph
from tests.lives import BORN, FIRST_NIGHT, Life

HINDI = [
    "मैं पिछले साल मुंबई से दिल्ली चला गया था।",
    "मेरी बहन को बिल्लियाँ बहुत पसंद हैं।",
    "कल अस्पताल में मेरे घुटने का ऑपरेशन हुआ।",
    "छत पर टमाटर के पौधों में फूल आ गए हैं।",
]
THAI = [
    "เมื่อปีที่แล้วฉันย้ายจากเชียงใหม่ไปกรุงเทพ",
    "น้องสาวของฉันชอบแมวมาก",
    "เมื่อวานฉันผ่าตัดเข่าที่โรงพยาบาล",
    "ต้นมะเขือเทศบนดาดฟ้าออกดอกแล้ว",
]


@pytest.fixture
async def ada(graph: Graph, tenant_id: str, settings: Settings) -> AsyncIterator[Life]:
    """With the encoder that people have."""
    embedder = open_embedder(settings)
    yield await Life(graph, tenant_id, embedder).begin()
    embedder.close()


@pytest.mark.spec("CONS-01")
@pytest.mark.parametrize("said", [HINDI, THAI], ids=["Hindi", "Thai"])
async def test_different_sentences_stay_different_memories(ada: Life, said: list[str]) -> None:
    await ada.say(*said, at=BORN)
    await ada.say(*said[:1], at=BORN + timedelta(days=1), where="monday", speaker="Kim")

    await ada.night(FIRST_NIGHT)
    await ada.night(FIRST_NIGHT + timedelta(days=1))

    kept = [memory for memory in await ada.memories() if memory.memory_type is MemoryType.EPISODIC]
    assert len(kept) == len(said) + 1  # what another person says is another memory
    themes = [memory for memory in await ada.memories() if memory.distilled]
    assert themes == []
    assert not [link for link in await ada.links() if link.type is LinkType.RELATED]


@pytest.mark.spec("CONS-01")
@pytest.mark.parametrize("said", [HINDI, THAI], ids=["Hindi", "Thai"])
async def test_the_same_words_are_the_same_memory(ada: Life, said: list[str]) -> None:
    for day in range(2):
        await ada.propose(said[0], at=BORN + timedelta(days=day))

    await ada.night(FIRST_NIGHT)
    await ada.night(FIRST_NIGHT + timedelta(days=1))

    (memory,) = await ada.memories()
    assert memory.reinforcements == 1
