#include "shim/warm/compaction.h"

#include "shim/warm/find.h"
#include "shim/warm/zygote.h"

namespace shim {
namespace {

using Value = unsigned long;  // VALUE and ID of ruby.h

Value compact = 0, set_auto_compact = 0, verify = 0;  // Ruby's own, as Method objects

Value call(Value method, int count, const Value* arguments) {
  if (is_borrower()) find<void()>("rb_notimplement")();
  const int has_keywords = find<int()>("rb_keyword_given_p")();
  return find<Value(int, const Value*, Value, int)>("rb_method_call_kw")(count, arguments, method,
                                                                         has_keywords);
}

Value on_compact(Value) { return call(compact, 0, nullptr); }
Value on_verify(int count, const Value* arguments, Value) { return call(verify, count, arguments); }
Value on_set_auto_compact(Value, Value wanted) { return call(set_auto_compact, 1, &wanted); }

// Ruby's method stays where this one has none.
template <typename Function>
void replace(const char* name, int arity, Function* by, Value& own) {
  const Value collector = *find<Value>("rb_mGC");
  const Value id = find<Value(const char*)>("rb_intern")(name);
  if (!find<int(Value, Value)>("rb_respond_to")(collector, id)) return;
  own = find<Value(Value, Value)>("rb_obj_method")(collector, find<Value(Value)>("rb_id2sym")(id));
  find<void(Value)>("rb_gc_register_mark_object")(own);
  find<void(Value, const char*, Function*, int)>("rb_define_singleton_method")(collector, name, by,
                                                                               arity);
}

}  // namespace

void let_borrowers_not_compact() {
  replace("compact", 0, on_compact, compact);
  replace("auto_compact=", 1, on_set_auto_compact, set_auto_compact);
  replace("verify_compaction_references", -1, on_verify, verify);
}

}  // namespace shim
