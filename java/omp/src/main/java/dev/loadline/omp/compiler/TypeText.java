package dev.loadline.omp.compiler;

import java.util.stream.Collectors;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.ArrayType;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.type.WildcardType;

/** Types as they are written in Java source. */
final class TypeText {
    private TypeText() {}

    /** The type's full name; null if it has none, as an anonymous class, a capture or an intersection. */
    static String of(TypeMirror type) {
        if (type.getKind().isPrimitive()) {
            return type.getKind().name().toLowerCase(java.util.Locale.ROOT);
        }
        return switch (type.getKind()) {
            case ARRAY -> {
                String component = of(((ArrayType) type).getComponentType());
                yield component == null ? null : component + "[]";
            }
            case DECLARED -> declared((DeclaredType) type);
            case TYPEVAR -> {
                String name = ((TypeVariable) type).asElement().getSimpleName().toString();
                yield name.matches("[\\p{javaJavaIdentifierStart}][\\p{javaJavaIdentifierPart}]*") ? name : null;
            }
            case WILDCARD -> wildcard((WildcardType) type);
            default -> null;
        };
    }

    private static String declared(DeclaredType type) {
        TypeElement element = (TypeElement) type.asElement();
        String name;
        if (type.getEnclosingType().getKind() == TypeKind.DECLARED) {
            String enclosing = of(type.getEnclosingType());
            name = enclosing == null ? null : enclosing + "." + element.getSimpleName();
        } else {
            name = element.getQualifiedName().toString();
            if (name.isEmpty()) { // local, or anonymous
                name = element.getSimpleName().toString();
            }
        }
        if (name == null || name.isEmpty()) {
            return null;
        }
        if (type.getTypeArguments().isEmpty()) {
            return name;
        }
        var arguments = type.getTypeArguments().stream().map(TypeText::of).toList();
        return arguments.contains(null) ? null : name + arguments.stream().collect(Collectors.joining(", ", "<", ">"));
    }

    private static String wildcard(WildcardType type) {
        if (type.getExtendsBound() != null) {
            String bound = of(type.getExtendsBound());
            return bound == null ? null : "? extends " + bound;
        }
        if (type.getSuperBound() != null) {
            String bound = of(type.getSuperBound());
            return bound == null ? null : "? super " + bound;
        }
        return "?";
    }

    /** The type of a shared variable's box. */
    static String box(TypeMirror type) {
        String runtime = "dev.loadline.omp.runtime.";
        if (type.getKind().isPrimitive()) {
            String name = of(type);
            return runtime + Character.toUpperCase(name.charAt(0)) + name.substring(1) + "Ref";
        }
        String text = of(type);
        return text == null ? null : runtime + "Ref<" + text + ">";
    }

    /** The value that a field of the type has before it is assigned. */
    static String zero(TypeMirror type) {
        return switch (type.getKind()) {
            case BOOLEAN -> "false";
            case BYTE, SHORT, INT, CHAR -> "0";
            case LONG -> "0L";
            case FLOAT -> "0f";
            case DOUBLE -> "0.0";
            default -> "null";
        };
    }

    static boolean isField(Element element) {
        return element.getKind() == ElementKind.FIELD;
    }
}
