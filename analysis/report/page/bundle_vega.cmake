# Joins the parts of Vega that the report's charts need into one script that sets `vega`.
#   cmake -DVEGA_DIR=/usr/share/javascript/vega -DNOTICE=vega_notice.txt -DOUTPUT=vega_bundle.js -P ...
# Each part is a UMD module that would overwrite the global of the others, so each gets its own
# CommonJS scope. Parts are in the order of their dependencies. No VEGA_DIR: empty output.
file(WRITE "${OUTPUT}" "")
if(NOT VEGA_DIR)
  return()
endif()
file(READ "${NOTICE}" notice)
file(APPEND "${OUTPUT}" "${notice}(function () {
var parts = {};
function need(name) { return parts[name]; }
function define_part(name, body) {
  var module = {exports: {}};
  body(module.exports, need, module);
  parts[name] = module.exports;
}
")
foreach(part util time format loader dataflow scale statistics canvas scenegraph expression
        selection functions event-selector parser runtime transforms view-transforms encode label view)
  set(name "vega-${part}")
  if(part STREQUAL "selection")
    set(name "vega-selections")  # the package's file and its name differ
  endif()
  file(READ "${VEGA_DIR}/vega-${part}.min.js" body)
  string(REGEX REPLACE "//# sourceMappingURL=[^\n]*" "" body "${body}")
  file(APPEND "${OUTPUT}" "define_part(\"${name}\", function (exports, require, module) {\n")
  file(APPEND "${OUTPUT}" "${body}")
  file(APPEND "${OUTPUT}" "\n});\n")
endforeach()
file(APPEND "${OUTPUT}" "var transforms = parts['vega-dataflow'].transforms;
['vega-transforms', 'vega-view-transforms', 'vega-encode', 'vega-label'].forEach(function (name) {
  Object.assign(transforms, parts[name]);
});
globalThis.vega = {parse: parts['vega-parser'].parse, View: parts['vega-view'].View};
})();
")
