#include "service/jupyter/prelude.h"

#include <fmt/format.h>

namespace service::jupyter {

using nlohmann::json;

namespace {

// The modules are loaded by an importer of their own, which stays in the interpreter.
constexpr std::string_view kLoader = R"(
def __zygo_begin(texts, word, is_notebook, names):
    import sys
    from importlib.machinery import ModuleSpec

    class Modules:
        def find_spec(self, name, path=None, target=None):
            if name in texts:
                return ModuleSpec(name, self, is_package=name in ("zygo_kernel", "IPython"))

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            name = module.__name__
            exec(compile(texts[name], "<" + name + ">", "exec"), module.__dict__)

    sys.meta_path.insert(0, Modules())
    from zygo_kernel import run
    run.begin(word, names, is_notebook)

)";

// As a literal of Python: JSON in ASCII is one, once its own backslashes are escaped.
std::string literal_of(const json& value) {
  const std::string inner = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return json(inner).dump(-1, ' ', true);
}

}  // namespace

std::string prelude_step(const std::string& word, Host host) {
  json texts = {{"zygo_kernel", ""}};
  for (const PreludeModule& module : prelude_modules()) {
    const std::string name(module.name);
    texts[name == "display" ? "IPython.display" : "zygo_kernel." + name] = module.text;
  }
  texts["IPython"] =
      "from IPython.display import display\n\n\ndef get_ipython():\n    return None\n";
  return fmt::format(
      "{}__import__('json'); __zygo_begin(__import__('json').loads({}), '{}', {}, "
      "globals())\ndel __zygo_begin\n",
      kLoader, literal_of(texts), word, host == Host::kNotebook ? "True" : "False");
}

std::string prelude_call(std::string_view function, const json& request) {
  return fmt::format("__import__('zygo_kernel.run').run.{}({})\n", function, literal_of(request));
}

}  // namespace service::jupyter
