// The global random generators, which every fork of a template would share: what of them is kept,
// and how a job gets its own.

#include <sys/random.h>

#include <cstring>

#include "shim/python/kept.h"
#include "shim/python/setup.h"

namespace shim {
namespace {

// The start of numpy's bitgen_t (numpy/random/bitgen.h).
struct BitGenerator {
  MersenneState* state;
};

// numpy.random.mtrand._rand's state in memory, if it is what its own get_state() says.
MersenneState* find_state(PyObject* random_state) {
  Ref generator = attribute(random_state, "_bit_generator");
  Ref capsule = generator ? attribute(generator.get(), "capsule") : Ref();
  void* pointer = capsule ? PyCapsule_GetPointer(capsule.get(), "BitGenerator") : nullptr;
  Ref said = Ref::steal(PyObject_CallMethod(random_state, "get_state", nullptr));
  if (!pointer || !said || !PyTuple_Check(said.get())) return nullptr;
  Ref bytes = Ref::steal(PyObject_CallMethod(PyTuple_GetItem(said.get(), 1), "tobytes", nullptr));
  MersenneState* state = static_cast<BitGenerator*>(pointer)->state;
  char* key = nullptr;
  Py_ssize_t size = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &key, &size) < 0) return nullptr;
  const bool same =
      size == sizeof state->key && std::memcmp(key, state->key, sizeof state->key) == 0;
  return same && PyLong_AsLong(PyTuple_GetItem(said.get(), 2)) == state->position ? state : nullptr;
}

bool keep_numpy_legacy(Kept& k, PyObject* mtrand) {
  Ref random_state = attribute(mtrand, "_rand");
  if (!random_state || !keep(k.seed_numpy_legacy, random_state.get(), "seed")) return false;
  // Forgets the half of a pair of normal deviates that setup code may have left.
  if (!call(k.seed_numpy_legacy)) return false;
  k.numpy_legacy = find_state(random_state.get());
  PyErr_Clear();
  return true;
}

uint64_t fresh_seed() {
  uint64_t seed = 0;
  return getrandom(&seed, sizeof seed, 0) == sizeof seed ? seed : 0;
}

// splitmix64: any words but all zeros are a good state.
void fill(MersenneState& state, uint64_t seed) {
  for (uint32_t& word : state.key) {
    seed += 0x9E3779B97F4A7C15U;
    uint64_t mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    word = static_cast<uint32_t>(mixed >> 32);
  }
  state.key[0] |= 0x80000000U;
  state.position = 624;
}

}  // namespace

bool keep_generators(Kept& k) {
  PyObject* modules = PyImport_GetModuleDict();
  if (PyObject* random = PyDict_GetItemString(modules, "random")) {
    Ref base = Ref::steal(PyImport_ImportModule("_random"));
    Ref type = base ? attribute(base.get(), "Random") : Ref();
    if (!keep(k.seed_random, type.get(), "seed")) return false;
    if (!keep(k.random_instance, random, "_inst")) return false;
  }
  PyObject* mtrand = PyDict_GetItemString(modules, "numpy.random.mtrand");
  return !mtrand || keep_numpy_legacy(k, mtrand);
}

bool reseed() {
  const Kept& k = kept();
  if (k.seed_random) {
    Ref seed = Ref::steal(PyLong_FromUnsignedLongLong(fresh_seed()));
    if (!seed || !call(k.seed_random, k.random_instance, seed.get())) return false;
  }
  if (k.numpy_legacy) {
    fill(*k.numpy_legacy, fresh_seed());
  } else if (k.seed_numpy_legacy) {
    Ref seed = Ref::steal(PyLong_FromUnsignedLong(static_cast<uint32_t>(fresh_seed())));
    if (!seed || !call(k.seed_numpy_legacy, seed.get())) return false;
  }
  return true;
}

}  // namespace shim
