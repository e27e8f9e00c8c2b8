/* Calls native kernels from Python, and rules in Python from native kernels.

   A kernel takes words of 64 bits: an integer is one word, an array is its address and its shape.
   mpinet/base/native/plaincalls.py does the same in Python; tests compare the two. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

/* From Python 3.12 on, None and small integers are immortal: their counts stay. Macros of older
   headers change the counts, and 2^31 changes make an object mortal. So functions count here. */
#undef Py_INCREF
#undef Py_DECREF
#undef Py_XINCREF
#undef Py_XDECREF
#define Py_INCREF(object) Py_IncRef((PyObject *)(object))
#define Py_DECREF(object) Py_DecRef((PyObject *)(object))
#define Py_XINCREF Py_INCREF
#define Py_XDECREF Py_DECREF

#ifndef SOURCE
#define SOURCE "unknown" /* mpinet/base/native/build.py gives the checksum of this file */
#endif

_Static_assert(sizeof(void *) == 8, "addresses are words of 64 bits");

enum { MOST_RESULTS = 64, MOST_GIVEN = 6 };

/* ---- Rules ---- */

typedef struct Record Record;
typedef int64_t (*Call)(void);

struct Record { /* what native code takes for a rule */
    Call call;  /* takes the record and then the rule's words */
    const char *error;
};

typedef struct {
    const char *name, *form; /* i: a number; 1, 2: an array with so many dimensions */
    Call callback;
} Kind;

typedef struct {
    PyObject_HEAD
    Record record;
    const Kind *kind;
    PyObject *function, *name;
    PyArrayObject *seen[MOST_GIVEN]; /* the last array at each place: most calls need it again */
} Rule;

static PyTypeObject *rule_type;
static PyObject *forms; /* mpinet.base.native.forms: reads forms, and makes exceptions */

/* Raise an exception that `forms` made. NULL: another exception is set already. */
static int set_error(PyObject *made)
{
    if (made)
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    return -1;
}

/* Let an array show the memory at an address, if shape and owners of the array allow it. */
static int shows(PyArrayObject *array, void *data, const npy_intp *shape, int nd)
{
    if (!array || PyArray_NDIM(array) != nd || PyArray_TYPE(array) != NPY_INT64
        || (PyArray_FLAGS(array) & (NPY_ARRAY_CARRAY | NPY_ARRAY_OWNDATA)) != NPY_ARRAY_CARRAY
        || memcmp(PyArray_DIMS(array), shape, nd * sizeof *shape))
        return 0;
    if (PyArray_DATA(array) == data)
        return 1;
    if (Py_REFCNT(array) > 1)
        return 0;
    ((PyArrayObject_fields *)array)->data = data;
    return 1;
}

/* Return the array that a rule sees at a place, as a new reference. */
static PyObject *view_of(PyArrayObject **seen, const int64_t *word, int nd)
{
    static int64_t nothing; /* NumPy would allocate for no address */
    void *data = word[0] ? (void *)word[0] : &nothing;
    npy_intp shape[2] = {word[1], nd == 2 ? word[2] : 0};
    if (!shows(*seen, data, shape, nd)) {
        PyObject *made = PyArray_New(&PyArray_Type, nd, shape, NPY_INT64, NULL, data, 0,
                                     NPY_ARRAY_CARRAY, NULL);
        if (!made)
            return NULL;
        PyObject *old = (PyObject *)*seen;
        *seen = (PyArrayObject *)made;
        Py_XDECREF(old);
    }
    Py_INCREF(*seen);
    return (PyObject *)*seen;
}

static int as_word(PyObject *value, int64_t *word)
{
    *word = PyArray_IsScalar(value, Bool) ? PyObject_IsTrue(value) : PyLong_AsLongLong(value);
    return *word == -1 && PyErr_Occurred() ? -1 : 0;
}

static int result_of(const Rule *rule, PyObject *value, int64_t *result)
{
    if (value == Py_None && !strcmp(rule->kind->name, "start_rule")) {
        *result = 0;
        return 0;
    }
    if (!PyIndex_Check(value) && !PyArray_IsScalar(value, Bool))
        return set_error(PyObject_CallMethod(forms, "no_integer", "(O)", value));
    if (!as_word(value, result))
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_OverflowError, "the result of a rule does not fit into 64 bits");
    return -1;
}

/* Call the rule's Python function with the words that native code gave. */
static int64_t called(Record *record, const int64_t *word)
{
    Rule *rule = (Rule *)((char *)record - offsetof(Rule, record));
    PyObject *given[MOST_GIVEN] = {NULL}, *value = NULL;
    const char *form = rule->kind->form;
    int64_t result = 0;
    if (PyErr_Occurred()) { /* the kernel should have ended before */
        record->error = "";
        return INT64_MIN;
    }
    Py_INCREF(rule);
    int at = 0;
    for (; form[at]; at++) {
        int nd = form[at] == 'i' ? 0 : form[at] - '0';
        given[at] = nd ? view_of(&rule->seen[at], word, nd) : PyLong_FromLongLong(*word);
        if (!given[at])
            break;
        word += 1 + nd;
    }
    if (!form[at]) /* the first NULL ends the arguments */
        value = PyObject_CallFunctionObjArgs(rule->function, given[0], given[1], given[2],
                                             given[3], given[4], given[5], NULL);
    while (at--)
        Py_DECREF(given[at]);
    int failed = !value || result_of(rule, value, &result);
    record->error = failed ? "" : NULL;
    Py_XDECREF(value);
    Py_DECREF(rule);
    return failed ? INT64_MIN : result;
}

typedef int64_t W;
static W with4(Record *rule, W a, W b, W c, W d) { return called(rule, (W[]){a, b, c, d}); }
static W with5(Record *rule, W a, W b, W c, W d, W e) { return called(rule, (W[]){a, b, c, d, e}); }
static W with6(Record *rule, W a, W b, W c, W d, W e, W f)
{
    return called(rule, (W[]){a, b, c, d, e, f});
}
static W with8(Record *rule, W a, W b, W c, W d, W e, W f, W g, W h)
{
    return called(rule, (W[]){a, b, c, d, e, f, g, h});
}
static W with10(Record *rule, W a, W b, W c, W d, W e, W f, W g, W h, W i, W j)
{
    return called(rule, (W[]){a, b, c, d, e, f, g, h, i, j});
}

#define CALL(function) ((Call)(void (*)(void))(function))
static const Kind kinds[] = {
    {"port_rule", "ii1", CALL(with4)},
    {"start_rule", "ii11", CALL(with6)},
    {"decide_rule", "i11", CALL(with5)},
    {"schedule_rule", "iiii1", CALL(with6)},
    {"class_rule", "iiii11", CALL(with8)},
    {"candidates_rule", "iii121", CALL(with10)},
    {"choose_rule", "i1211", CALL(with10)},
    {NULL, NULL, NULL},
};

static PyObject *rule_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"function", "kind", NULL};
    PyObject *function;
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, named, "Os", names, &function, &name))
        return NULL;
    if (!PyCallable_Check(function))
        return PyErr_Format(PyExc_TypeError, "a rule must be callable: %R", function);
    const Kind *kind = kinds;
    while (kind->name && strcmp(kind->name, name))
        kind++;
    if (!kind->name)
        return PyErr_Format(PyExc_ValueError, "there is no kind of rules named '%s'", name);
    Rule *rule = (Rule *)PyType_GenericAlloc(type, 0);
    if (!rule)
        return NULL;
    rule->kind = kind;
    rule->record.call = kind->callback;
    Py_INCREF(function);
    rule->function = function;
    rule->name = PyUnicode_FromString(name);
    if (!rule->name)
        Py_CLEAR(rule);
    return (PyObject *)rule;
}

static int rule_traverse(Rule *rule, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(rule));
    Py_VISIT(rule->function);
    return 0;
}

static int rule_clear(Rule *rule)
{
    Py_CLEAR(rule->function);
    return 0;
}

static void rule_dealloc(Rule *rule)
{
    PyTypeObject *type = Py_TYPE(rule);
    PyObject_GC_UnTrack(rule);
    Py_CLEAR(rule->function);
    Py_CLEAR(rule->name);
    for (int at = 0; at < MOST_GIVEN; at++)
        Py_CLEAR(rule->seen[at]);
    PyObject_GC_Del(rule);
    Py_DECREF(type);
}

static PyObject *rule_address(Rule *rule, void *unused)
{
    (void)unused;
    Call call = rule->record.call;
    return PyLong_FromVoidPtr(call == rule->kind->callback ? NULL : (void *)(intptr_t)call);
}

static int rule_set_address(Rule *rule, PyObject *value, void *unused)
{
    (void)unused;
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "a rule's address cannot be deleted");
        return -1;
    }
    void *address = PyLong_AsVoidPtr(value);
    if (!address && PyErr_Occurred())
        return -1;
    rule->record.call = address ? (Call)(intptr_t)address : rule->kind->callback;
    return 0;
}

static PyObject *rule_record(Rule *rule, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(&rule->record);
}

static PyMemberDef rule_members[] = {
    {"call", T_OBJECT_EX, offsetof(Rule, function), READONLY, "The rule in Python."},
    {"kind", T_OBJECT_EX, offsetof(Rule, name), READONLY, "Name of the rule's signature."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef rule_getset[] = {
    {"address", (getter)rule_address, (setter)rule_set_address,
     "Address of the rule's native code; 0: kernels call Python.", NULL},
    {"record", (getter)rule_record, NULL, "Address of what kernels take for the rule.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot rule_slots[] = {
    {Py_tp_new, (void *)rule_new},           {Py_tp_dealloc, (void *)rule_dealloc},
    {Py_tp_traverse, (void *)rule_traverse}, {Py_tp_clear, (void *)rule_clear},
    {Py_tp_members, rule_members},           {Py_tp_getset, rule_getset},
    {Py_tp_doc, "RuleForm(function, kind): a rule as kernels take it."},
    {0, NULL},
};

static PyType_Spec rule_spec = {
    "mpinet.base.native._calls.RuleForm", sizeof(Rule), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, rule_slots,
};

/* ---- Arguments ---- */

typedef struct { /* as mpinet/base/native/forms.py packs it */
    int32_t form, nd, kind, size;
    PyObject *native; /* the last structured dtype that was checked to be native */
} Param;

typedef int (*Entry)(int64_t *, int64_t *, const char **);

typedef struct {
    Entry entry;
    int params, words, results, tuple; /* numbers of each; tuple: the result is one */
    char result[MOST_RESULTS];
    Param param[];
} Kernel;

typedef struct {
    Kernel *kernel;
    int at; /* number of arguments so far */
    int64_t *word;
} Put;

static int refuse(const Param *param, int at, PyObject *value)
{
    PyErr_Clear();
    return set_error(PyObject_CallMethod(forms, "refusal", "iCiCiO", at, param->form, param->nd,
                                     param->kind, param->size, value));
}

/* Tell if all fields of a structured dtype are native. */
static int all_native(Param *param, PyObject *descr)
{
    if (param->native == descr)
        return 1;
    PyObject *answer = PyObject_GetAttrString(descr, "isnative");
    int native = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (native == 1) {
        PyObject *old = param->native;
        Py_INCREF(descr);
        param->native = descr;
        Py_XDECREF(old);
    }
    return native == 1;
}

static int put_array(Param *param, Put *put, PyObject *value)
{
    if (!PyArray_Check(value))
        return refuse(param, put->at, value);
    PyArrayObject *array = (PyArrayObject *)value;
    PyArray_Descr *descr = PyArray_DESCR(array);
    int flags = NPY_ARRAY_ALIGNED | (param->form == 'A' ? NPY_ARRAY_C_CONTIGUOUS : 0);
    int nd = param->nd;
    if (PyArray_NDIM(array) != nd || descr->kind != param->kind
        || PyDataType_ELSIZE(descr) != param->size || (PyArray_FLAGS(array) & flags) != flags
        || PyArray_ISBYTESWAPPED(array)
        || (param->kind == 'V' && !all_native(param, (PyObject *)descr)))
        return refuse(param, put->at, value);
    *put->word++ = (int64_t)PyArray_DATA(array);
    for (int d = 0; d < nd; d++)
        *put->word++ = PyArray_DIMS(array)[d];
    if (param->form == 'V')
        for (int d = 0; d < nd; d++)
            *put->word++ = PyArray_STRIDES(array)[d];
    return 0;
}

static int put_record(Param *param, Put *put, PyObject *value)
{
    if (!PyArray_IsScalar(value, Void))
        return refuse(param, put->at, value);
    PyVoidScalarObject *record = (PyVoidScalarObject *)value;
    PyArray_Descr *descr = record->descr;
    if (PyDataType_ELSIZE(descr) != param->size
        || (uintptr_t)record->obval % PyDataType_ALIGNMENT(descr)
        || !all_native(param, (PyObject *)descr))
        return refuse(param, put->at, value);
    *put->word++ = (int64_t)record->obval;
    return 0;
}

static int put_number(Param *param, Put *put, PyObject *value)
{
    if (param->form == 'f') {
        double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred())
            return PyErr_ExceptionMatches(PyExc_TypeError) ? refuse(param, put->at, value) : -1;
        memcpy(put->word++, &number, sizeof number);
        return 0;
    }
    if (!PyIndex_Check(value) && !PyArray_IsScalar(value, Bool))
        return refuse(param, put->at, value);
    if (!as_word(value, put->word++))
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "argument %d does not fit into 64 bits", put->at);
    else if (PyErr_ExceptionMatches(PyExc_TypeError))
        return refuse(param, put->at, value);
    return -1;
}

static int put_one(Put *put, PyObject *value);

static int put_group(Put *put, PyObject *group)
{
    if (Py_EnterRecursiveCall(" in the arguments of a kernel"))
        return -1;
    int failed = 0;
    Py_ssize_t count = PyTuple_Size(group);
    for (Py_ssize_t i = 0; !failed && i < count; i++)
        failed = put_one(put, PyTuple_GetItem(group, i));
    Py_LeaveRecursiveCall();
    return failed;
}

/* Put the words of an argument or of a group. */
static int put_one(Put *put, PyObject *value)
{
    if (PyTuple_Check(value))
        return put_group(put, value);
    if (put->at >= put->kernel->params) { /* only counted */
        put->at++;
        return 0;
    }
    Param *param = &put->kernel->param[put->at];
    int failed = 0, truth;
    switch (param->form) {
    case 'A':
    case 'V':
        failed = put_array(param, put, value);
        break;
    case 'r':
        failed = put_record(param, put, value);
        break;
    case 'b':
        truth = PyObject_IsTrue(value);
        failed = truth < 0 ? -1 : 0;
        *put->word++ = truth;
        break;
    case 'R':
        if (!PyObject_TypeCheck(value, rule_type))
            return refuse(param, put->at, value);
        *put->word++ = (int64_t)&((Rule *)value)->record;
        break;
    default:
        failed = put_number(param, put, value);
    }
    put->at++;
    return failed;
}

/* ---- Kernels ---- */

static PyObject *value_of(char form, int64_t word)
{
    double number;
    switch (form) {
    case 'i':
        return PyLong_FromLongLong(word);
    case 'b':
        return PyBool_FromLong(word != 0);
    case 'f':
        memcpy(&number, &word, sizeof number);
        return PyFloat_FromDouble(number);
    }
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *kernel_call(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Kernel *kernel = PyCapsule_GetPointer(self, NULL);
    int64_t words[kernel->words + 1], results[kernel->results + 1];
    const char *error = NULL;
    Put put = {kernel, 0, words};
    for (Py_ssize_t i = 0; i < count; i++)
        if (put_one(&put, args[i]))
            return NULL;
    if (put.at != kernel->params)
        return PyErr_Format(PyExc_TypeError, "the kernel takes %d arguments, not %d",
                            kernel->params, put.at);
    int status = kernel->entry(words, results, &error);
    if (PyErr_Occurred()) /* a rule in Python failed */
        return NULL;
    if (status) {
        set_error(PyObject_CallMethod(forms, "error", "(y)", error)); /* no text is None */
        return NULL;
    }
    if (!kernel->tuple)
        return value_of(kernel->result[0], results[0]);
    PyObject *tuple = PyTuple_New(kernel->results);
    for (int i = 0; tuple && i < kernel->results; i++) {
        PyObject *value = value_of(kernel->result[i], results[i]);
        if (!value || PyTuple_SetItem(tuple, i, value))
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyMethodDef kernel_def = {
    "kernel", (PyCFunction)(void (*)(void))kernel_call, METH_FASTCALL, "Call a native kernel.",
};

static void kernel_free(PyObject *capsule)
{
    Kernel *kernel = PyCapsule_GetPointer(capsule, NULL);
    for (int i = 0; i < kernel->params; i++)
        Py_CLEAR(kernel->param[i].native);
    free(kernel);
}

static PyObject *make_kernel(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *read = PyObject_CallMethod(forms, "read", "O", args), *capsule, *made = NULL;
    unsigned long long entry;
    const char *packed, *result;
    Py_ssize_t size, results;
    int words, tuple;
    Kernel *kernel = NULL;
    if (read && PyArg_ParseTuple(read, "Ky#is#p", &entry, &packed, &size, &words, &result, &results,
                                 &tuple)
        && !(kernel = calloc(1, sizeof(Kernel) + size)))
        PyErr_NoMemory();
    if (kernel) {
        kernel->entry = (Entry)(uintptr_t)entry;
        kernel->params = (int)(size / sizeof(Param));
        kernel->words = words;
        kernel->results = (int)results;
        kernel->tuple = tuple;
        memcpy(kernel->result, result, results);
        memcpy(kernel->param, packed, size);
        if (!(capsule = PyCapsule_New(kernel, NULL, kernel_free)))
            free(kernel);
        else
            made = PyCFunction_NewEx(&kernel_def, capsule, NULL);
        Py_XDECREF(capsule);
    }
    Py_XDECREF(read);
    return made;
}

/* ---- Processor ---- */

#if defined(__x86_64__)
#include <cpuid.h>

/* Not __builtin_cpu_supports: it answers no wherever the linker has no runtime library for it. */
static const char *level_of_processor(void)
{
    const unsigned v2 =
        bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT;
    const unsigned v3 = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C;
    const unsigned v3_7 = bit_BMI | bit_AVX2 | bit_BMI2;
    const unsigned v4_7 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c = 0, d, b7 = 0, c7, extended = 0, kept = 0, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & v2) != v2
        || !__get_cpuid(0x80000001, &a, &b, &extended, &d) || !(extended & bit_LAHF_LM))
        return "";
    if (c & bit_OSXSAVE) /* the registers that the system keeps */
        __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d))
        b7 = 0;
    if ((c & v3) != v3 || (b7 & v3_7) != v3_7 || !(extended & bit_LZCNT) || (kept & 6) != 6)
        return "x86-64-v2";
    return (b7 & v4_7) == v4_7 && (kept & 0xe6) == 0xe6 ? "x86-64-v4" : "x86-64-v3";
}
#elif defined(__aarch64__)
static const char *level_of_processor(void) { return "aarch64"; }
#else
static const char *level_of_processor(void) { return ""; }
#endif

static PyObject *cpu_level(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(level_of_processor());
}

/* ---- Module ---- */

static PyMethodDef methods[] = {
    {"kernel", make_kernel, METH_VARARGS, "Make a function of the kernel at an address."},
    {"cpu_level", cpu_level, METH_NOARGS, "Return the level of this processor."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_calls", "Calls of native kernels.", -1, methods, 0, 0, 0, 0,
};

/* mpinet/base/native/build.py looks for this text in the file. */
static const char built_from[] = "mpinet calls built from " SOURCE;

PyMODINIT_FUNC PyInit__calls(void)
{
    if (_import_array() < 0) { /* NumPy is too old or too new */
        PyErr_Clear();
        PyErr_SetString(PyExc_ImportError, "the extension does not know this NumPy");
        return NULL;
    }
    PyObject *made = PyModule_Create(&module);
    if (!made || !(forms = PyImport_ImportModule("mpinet.base.native.forms")))
        return NULL;
    rule_type = (PyTypeObject *)PyType_FromSpec(&rule_spec);
    Py_XINCREF(rule_type);
    if (!rule_type || PyModule_AddObject(made, "RuleForm", (PyObject *)rule_type)
        || PyModule_AddStringConstant(made, "BUILT_FROM", built_from))
        Py_CLEAR(made);
    return made;
}
