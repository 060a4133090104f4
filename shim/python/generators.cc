// The global random generators, which every fork of a template would share: what of them is kept,
// and how a job gets its own.

#include <sys/random.h>

#include <cstring>

#include "shim/fixed/fixed.h"
#include "shim/python/interpreter_refs.h"
#include "shim/python/setup.h"

namespace shim {
namespace {

// mt19937_state in numpy since 1.17, and the start of its bitgen_t (numpy/random/bitgen.h).
struct NumpyState {
  uint32_t words[Mersenne::kWords];
  int position;
};
struct BitGenerator {
  NumpyState* state;
};

// RandomObject of CPython's _randommodule.c.
struct RandomObject {
  size_t head[2];  // PyObject_HEAD
  int position;
  uint32_t words[Mersenne::kWords];
};

// Tells whether getstate() has said these: it returns a tuple of the words and the position.
bool says_the_same(PyObject* said, const uint32_t* words, int position) {
  if (!said || !PyTuple_Check(said) || PyTuple_Size(said) != Mersenne::kWords + 1) return false;
  for (int i = 0; i < Mersenne::kWords; ++i) {
    if (PyLong_AsUnsignedLong(PyTuple_GetItem(said, i)) != words[i]) return false;
  }
  return PyLong_AsLong(PyTuple_GetItem(said, Mersenne::kWords)) == position;
}

// The layout is believed only if it is what the object says of itself.
Mersenne find_random(PyObject* random, PyTypeObject* type) {
  Ref size = attribute(reinterpret_cast<PyObject*>(type), "__basicsize__");
  if (!size || PyLong_AsSize_t(size.get()) < sizeof(RandomObject)) return {};
  // The base class's getstate() is called: the instance's own says more.
  Ref getstate = attribute(reinterpret_cast<PyObject*>(type), "getstate");
  Ref said = getstate ? call(getstate.get(), random) : Ref();
  auto* object = reinterpret_cast<RandomObject*>(random);
  if (!says_the_same(said.get(), object->words, object->position)) return {};
  return {object->words, &object->position};
}

// Finds the generator of numpy.random.mtrand._rand, under the same condition.
Mersenne find_numpy_legacy(PyObject* random_state) {
  Ref generator = attribute(random_state, "_bit_generator");
  Ref capsule = generator ? attribute(generator.get(), "capsule") : Ref();
  void* pointer = capsule ? PyCapsule_GetPointer(capsule.get(), "BitGenerator") : nullptr;
  Ref said = Ref::steal(PyObject_CallMethod(random_state, "get_state", nullptr));
  if (!pointer || !said || !PyTuple_Check(said.get())) return {};
  Ref bytes = Ref::steal(PyObject_CallMethod(PyTuple_GetItem(said.get(), 1), "tobytes", nullptr));
  NumpyState* state = static_cast<BitGenerator*>(pointer)->state;
  char* words = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &words, &size) < 0) return {};
  const bool same =
      size == sizeof state->words && std::memcmp(words, state->words, sizeof state->words) == 0;
  if (!same || PyLong_AsLong(PyTuple_GetItem(said.get(), 2)) != state->position) return {};
  return {state->words, &state->position};
}

bool keep_numpy_legacy(InterpreterRefs& k, PyObject* mtrand) {
  Ref random_state = attribute(mtrand, "_rand");
  if (!random_state || !keep(k.seed_numpy_legacy, random_state.get(), "seed")) return false;
  // Forgets the half of a pair of normal deviates that setup code may have left.
  if (!call(k.seed_numpy_legacy)) return false;
  k.numpy_legacy = find_numpy_legacy(random_state.get());
  PyErr_Clear();
  return true;
}

uint64_t fresh_seed() {
  uint64_t seed = 0;
  return getrandom(&seed, sizeof seed, 0) == sizeof seed ? seed : 0;
}

// splitmix64: any words but all zeros are a good state.
void fill(const Mersenne& generator, uint64_t seed) {
  if (!generator.words) return;
  for (int i = 0; i < Mersenne::kWords; ++i) {
    seed += 0x9E3779B97F4A7C15U;
    uint64_t mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    generator.words[i] = static_cast<uint32_t>(mixed >> 32);
  }
  generator.words[0] |= 0x80000000U;
  *generator.position = Mersenne::kWords;
}

// Nothing is drawn for one that is not there: in fixed mode, that would be missed elsewhere.
void fill(const Mersenne& generator) {
  if (generator.words) fill(generator, fresh_seed());
}

bool keep_random(InterpreterRefs& k, PyObject* random) {
  Ref base = Ref::steal(PyImport_ImportModule("_random"));
  Ref type = base ? attribute(base.get(), "Random") : Ref();
  if (!type || !keep(k.seed_random, type.get(), "seed")) return false;
  if (!keep(k.random_instance, random, "_inst")) return false;
  // The half of a pair of normal deviates that setup code may have left.
  if (PyObject_SetAttrString(k.random_instance, "gauss_next", Py_None) < 0) return false;
  k.random = find_random(k.random_instance, reinterpret_cast<PyTypeObject*>(type.get()));
  PyErr_Clear();
  return true;
}

}  // namespace

bool keep_generators(InterpreterRefs& k) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* random = PyDict_GetItemString(modules, "random");
  PyObject* mtrand = PyDict_GetItemString(modules, "numpy.random.mtrand");
  return (!random || keep_random(k, random)) && (!mtrand || keep_numpy_legacy(k, mtrand));
}

// In fixed mode the seed is the job's own, and comes with it.
void reseed_in_memory() {
  if (!zygo_fixed_begin) reseed_by_job();
}

void reseed_by_job() {
  fill(refs().random);
  fill(refs().numpy_legacy);
}

void reseed_unless(bool random_is_seeded, bool numpy_is_seeded, uint64_t seed) {
  const InterpreterRefs& k = refs();
  if (seed == 0) seed = fresh_seed();
  if (!random_is_seeded) {
    fill(k.random, seed);
    if (k.seed_random && !k.random.words) {  // where they are was not found
      Ref number = Ref::steal(PyLong_FromUnsignedLongLong(seed));
      if (number) call(k.seed_random, k.random_instance, number.get());
    }
    // The second of two deviates that are drawn together (random.gauss).
    if (k.random_instance) PyObject_SetAttrString(k.random_instance, "gauss_next", Py_None);
  }
  if (!numpy_is_seeded && k.seed_numpy_legacy) {  // forgets such a one, too
    Ref word = Ref::steal(PyLong_FromUnsignedLong(static_cast<uint32_t>(seed ^ (seed >> 32))));
    if (word) call(k.seed_numpy_legacy, word.get());
  }
  PyErr_Clear();
}

bool reseed() {
  const InterpreterRefs& k = refs();
  if (k.seed_random && !k.random.words) {
    Ref seed = Ref::steal(PyLong_FromUnsignedLongLong(fresh_seed()));
    if (!seed || !call(k.seed_random, k.random_instance, seed.get())) return false;
  }
  if (k.seed_numpy_legacy && !k.numpy_legacy.words) {
    Ref seed = Ref::steal(PyLong_FromUnsignedLong(static_cast<uint32_t>(fresh_seed())));
    if (!seed || !call(k.seed_numpy_legacy, seed.get())) return false;
  }
  return true;
}

}  // namespace shim
